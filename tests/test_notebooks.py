"""Any file that arrives is read, or refused with a sentence; answers are found by what they define."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from autograder import classics, notebooks, wire
from autograder.course import Assignment, Exercise
from autograder.notebooks import Unreadable
from autograder.observations import Problem

ASSIGNMENT = Assignment(
    folder=Path("nowhere"),
    name="demo",
    title="Demo",
    exercises=(
        Exercise("double", "Double it", 4.0, ("double",)),
        Exercise("masks", "Masks", 6.0, ("padding_mask", "causal_mask")),
    ),
    chapters={},
)
ANSWER = "def double(x):\n    return 2 * x\n"


def cell(source: Any, kind: str = "code", grade_id: str = "") -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    made: dict[str, Any] = {"cell_type": kind, "metadata": metadata, "source": source}
    if kind == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def notebook(*cells: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **more}).encode()


def exercises(data: bytes) -> list[tuple[str, ...]]:
    return [one.exercises for one in notebooks.read(data, ASSIGNMENT).cells]


def test_an_answer_is_found_by_its_grade_id_and_by_what_it_defines() -> None:
    data = notebook(cell("import torch"), cell("x = 1", grade_id="double"), cell(ANSWER), cell("causal_mask = None"))
    assert exercises(data) == [(), ("double",), ("double",), ("masks",)]


def test_a_cell_may_belong_to_two_exercises() -> None:
    assert exercises(notebook(cell(ANSWER + "def padding_mask(t, p): ...\n"))) == [("double", "masks")]


@pytest.mark.parametrize("kind", ["raw", "markdown"])
def test_an_answer_cell_turned_raw_or_markdown_counts_when_no_code_cell_defines_it(kind: str) -> None:
    assert exercises(notebook(cell(ANSWER, kind), cell("1 + 1"))) == [("double",), ()]
    assert exercises(notebook(cell(ANSWER, kind), cell(ANSWER))) == [("double",)]


def test_prose_that_mentions_a_function_is_not_code() -> None:
    assert exercises(notebook(cell("def double is what you write", "markdown"), cell(ANSWER))) == [("double",)]


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\n" + ANSWER,
        "!pip install einops\n" + ANSWER,
        ANSWER + "await something()\n",
        "if True:\n    def double(x):\n        return 2 * x\n",
        "try:\n    import numpy\nexcept ImportError:\n    pass\nelse:\n    double = lambda x: 2 * x\n",
        "double: object = None",
        "from helpers import twice as double",
        "a, (double, b) = 1, (2, 3)",
        ANSWER + "def broken(:\n",
    ],
)
def test_a_definition_is_seen_through_magics_branches_and_syntax_errors(source: str) -> None:
    assert exercises(notebook(cell(source))) == [("double",)]


@pytest.mark.parametrize(
    "data",
    [
        notebook(cell(ANSWER)).decode().encode("utf-16"),
        notebook(cell(ANSWER)).decode().encode("utf-16-le"),
        notebook(cell(ANSWER)).decode().encode("utf-16-be"),
        b"\xef\xbb\xbf" + notebook(cell(ANSWER)),
        notebook(cell(ANSWER)).replace(b"\\n", b"\\r\\n"),
        notebook(cell(ANSWER.splitlines(keepends=True))),
        notebook(cell(ANSWER), nbformat=9, nbformat_minor=99),
        notebook(cell(ANSWER), cell(ANSWER) | {"id": "same"}, cell("1") | {"id": "same"}),
        notebook(cell(ANSWER + "# \ud800 \0")),
        json.dumps(
            {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ANSWER, "language": "python"}]}]}
        ).encode(),
        notebook(cell(ANSWER), "junk", None, {"cell_type": 3}, {"cell_type": "code", "source": {"a": 1}}),  # type: ignore[arg-type]
        notebook(cell(ANSWER) | {"metadata": None}),
        notebook(cell(ANSWER) | {"metadata": {"nbgrader": {"grade_id": ["x"]}}}),
    ],
)
def test_odd_but_readable_files_are_read(data: bytes) -> None:
    assert ("double",) in exercises(data)
    for one in notebooks.read(data, ASSIGNMENT).cells:
        one.source.encode("utf-8")
        assert "\0" not in one.source and "\r" not in one.source


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\0" * 100, "empty"),
        (b"  \n", "empty"),
        (notebook(cell(ANSWER))[:50], "not valid JSON"),
        (b"<!DOCTYPE html><html><body>Log in</body></html>", "web page"),
        (b"[]", "no cells"),
        (b"null", "no cells"),
        (b'{"cells": 3}', "its cells are not a list"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"%PDF-1.7", "a PDF"),
        (b'{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> theirs\n]}', "unfinished merge"),
        (notebook(cell("print(1)")), "none of its cells belongs"),
        (notebook(), "none of its cells belongs"),
        (b"\xff\xfe\x00\xd8\x00\x00", "not valid JSON"),
    ],
)
def test_what_is_no_notebook_is_refused_with_a_sentence(data: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words) as refused:
        notebooks.read(data, ASSIGNMENT)
    assert str(refused.value).endswith(".")


def test_an_untouched_check_cell_alone_is_enough_to_know_the_assignment() -> None:
    assert exercises(notebook(cell("1", grade_id="check-double"))) == [()]


def test_links_pipes_and_giants_are_not_read(tmp_path: Path) -> None:
    real = tmp_path / "real.ipynb"
    real.write_bytes(notebook(cell(ANSWER)))
    assert notebooks.read_file(real) == real.read_bytes()
    link = tmp_path / "link.ipynb"
    link.symlink_to(real)
    with pytest.raises(Unreadable, match="symbolic link"):
        notebooks.read_file(link)
    pipe = tmp_path / "pipe.ipynb"
    os.mkfifo(pipe)
    with pytest.raises(Unreadable, match="not a regular file"):
        notebooks.read_file(pipe)
    sparse = tmp_path / "sparse.ipynb"
    with sparse.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(Unreadable, match="1024 MB"):
        notebooks.read_file(sparse)
    with pytest.raises(Unreadable, match="does not exist"):
        notebooks.read_file(tmp_path / "none.ipynb")
    with pytest.raises(Unreadable, match="regular"):
        notebooks.read_file(tmp_path)


def test_only_calls_of_what_is_off_limits_are_flagged() -> None:
    cells = notebooks.read(
        notebook(
            cell("def double(x: nn.MultiheadAttention):\n    return x  # F.scaled_dot_product_attention(x)\n"),
            cell("def padding_mask(t):\n    return F.scaled_dot_product_attention(t, t, t)\n"),
            cell("nn.MultiheadAttention(4, 2)"),
        ),
        ASSIGNMENT,
    ).cells
    assert notebooks.off_limits_calls(cells, OFF_LIMITS) == [("masks", "F.scaled_dot_product_attention")]


OFF_LIMITS = ["nn.MultiheadAttention", "F.scaled_dot_product_attention"]


@pytest.mark.parametrize(
    "given",
    [
        "from torch._C._nn import scaled_dot_product_attention as f\n",
        "f = F.scaled_dot_product_attention\n",
        "import torch as t\nf = t.nn.functional.scaled_dot_product_attention\n",
    ],
)
def test_what_is_off_limits_is_known_by_another_name_too(given: str) -> None:
    answer = "def padding_mask(t):\n    return f(t, t, t)\n"
    for sources in ((given, answer), (given + answer,)):
        cells = notebooks.read(notebook(*map(cell, sources)), ASSIGNMENT).cells
        assert notebooks.off_limits_calls(cells, OFF_LIMITS) == [("masks", "F.scaled_dot_product_attention")]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('check("split_heads")', True), ("check('a')\n", True), ("\ncheck();", True), ('check("a"); x = 1', False),
        ('check("a")\ndef f(): pass', False), ('check("a", trace=True)', False), ("check(f())", False), ("", False),
        ('check("a" if f() else "b")', False), ('recheck("a")', False),
    ],
)  # fmt: skip
def test_a_cell_that_does_nothing_but_check_is_known(code: str, expected: bool) -> None:
    assert notebooks.only_checks(code) is expected


def test_definitions_keep_their_lines_and_lose_what_else_a_cell_does() -> None:
    source = (
        "import math\r\n@torch.no_grad()\ndef helper(x):\n    return 'é'; print(x)\né = 5; train(\n  1,\n  2); y = 2\n"
        "for i in range(3):\n    print(i)\n%timeit helper(3)\n!pip install x\nz: int = 2"
    )
    kept = (
        "import math\n@torch.no_grad()\ndef helper(x):\n    return 'é'; print(x)\né = 5; pass; y = 2\n\n\n"
        "pass\n\npass\npass\nz: int = 2"
    )
    assert notebooks.definitions(source) == kept
    for nothing_to_gain in ("", "def f():\n    pass", "while True:\n    pass", "def f(:", "# nothing"):
        assert notebooks.definitions(nothing_to_gain) == ""


def code_of(*sources: str, kind: str = "code") -> bytes:
    return json.dumps({"cells": [cell(ANSWER), *(cell(source, kind) for source in sources)]}).encode()


LONG = 60_000


@pytest.mark.parametrize(
    "work",
    [
        lambda: notebooks.read(code_of(")" + "\n" * LONG, ")" + " " * LONG, ")" + "\n " * (LONG // 2)), ASSIGNMENT),
        lambda: notebooks.only_checks("check()" + " " * LONG + "#"),
        lambda: notebooks.only_checks("check(" + " " * LONG + "#"),
        lambda: notebooks.only_checks(" " * LONG + "#"),
        lambda: notebooks.read(code_of("x = [" + "a," * (LONG // 2) + "]"), ASSIGNMENT),
        lambda: classics.explain(Problem("TypeError", "a" * 2_000)),
        lambda: classics.explain(Problem("TypeError", "a()" * 700)),
        lambda: classics.explain(wire.as_problem({"kind": "TypeError", "message": "a" * 400_000, "lines": []})),
    ],
)
def test_what_a_stranger_writes_takes_no_time_that_grows_with_its_square(work: Any) -> None:
    started = time.process_time()
    work()
    assert time.process_time() - started < 5  # any of them took minutes


def test_a_notebook_of_too_much_code_or_too_many_values_is_refused_before_it_is_read() -> None:
    a_lot = ["x = 1\n" * 15_000] * 5
    with pytest.raises(Unreadable, match=f"more than {notebooks.LARGEST_SOURCE:,} characters of code"):
        notebooks.read(code_of(*a_lot), ASSIGNMENT)
    pictures = notebooks.read(
        code_of(*("![](data:image/png;base64," + "A" * LONG + ")",) * 9, kind="markdown"), ASSIGNMENT
    )
    assert len(pictures.cells) == 1
    outputs = json.dumps(['[0.1, 0.2], \\ "{\n'] * 400_000)
    assert notebooks.parse(b'{"cells": [], "outputs": ' + outputs.encode() + b"}")
    with pytest.raises(Unreadable, match="more than 1,000,000 values"):
        notebooks.parse(b'{"cells": [' + b"[], " * 1_400_000 + b"[]]}")

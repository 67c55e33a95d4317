"""The search for leaks finds an answer however it is wrapped, and leaves alone what the book teaches."""

from __future__ import annotations

import ast
import gzip
import html
import json
import textwrap
import zipfile
from pathlib import Path

import pytest
from course_copies import ROOT, SECOND
from sample_class import solved_answers

from autograder import leaks
from autograder.course import Course, Source
from autograder.leaks import Secret

BODY = "runs = x.unfold(-1, window, 1)  # (B, T - window + 1, window)\nreturn runs.mean(-1)"
FUNCTION = "def moving_average(x, window):\n" + "".join(f"    {line}\n" for line in BODY.splitlines())
ONE_LINE_WRONG = "def moving_average(x, window):\n    return x.unfold(-1, window, 1).sum(-1)\n"


@pytest.fixture(scope="module")
def second() -> Source:
    return Course(SECOND).source()


@pytest.fixture(scope="module")
def of_the_course(source: Source) -> list[Secret]:
    return leaks.secrets(source)


@pytest.fixture(scope="module")
def wanted(second: Source) -> list[Secret]:
    return leaks.secrets(second)


def spans(code: str) -> str:
    """As a book's page shows code: every token in a span."""
    parts = [f"<span class='n'>{html.escape(word)}</span>" for word in code.split(" ")]
    return "<html><body><div class='highlight'><pre>" + " ".join(parts) + "</pre></div></body></html>"


@pytest.mark.parametrize(
    "text",
    [
        FUNCTION,
        BODY,
        FUNCTION.replace("moving_average", "another_name"),
        FUNCTION.replace("x.unfold(-1, window, 1)", "x.unfold(\n        -1,\n        window, 1\n    )  # the runs"),
        FUNCTION.replace("(x, window)", "(x: torch.Tensor, window: int) -> torch.Tensor"),
        FUNCTION.replace(":\n", ':\n    """The mean of each run."""\n', 1),
        "class Other:\n    def method(self):\n        if True:\n" + textwrap.indent(BODY, " " * 12),
        "Some prose, then:\n\n```python\n" + FUNCTION + "```\n",
        "Some prose, then:\n\n" + "".join(f"    {line}\n" for line in FUNCTION.splitlines()) + "\nand more.",
        "".join(f"# {line}\n" for line in FUNCTION.splitlines()),
        "".join(f"+{line}\n" for line in FUNCTION.splitlines()),
        "".join(f"... {line}\n" for line in BODY.splitlines()),
        json.dumps({"cells": [{"cell_type": "code", "source": FUNCTION.splitlines(keepends=True)}]}),
        json.dumps({"cells": [{"source": "x", "outputs": [{"data": {"text/html": spans(FUNCTION)}}]}]}),
        json.dumps({"text": FUNCTION}),
        html.escape(FUNCTION),
        spans(FUNCTION),
        f"const stub = {json.dumps(FUNCTION)};",
        ONE_LINE_WRONG,
        'def moving_average(x, window):\n    """Adds up."""\n    return (x.unfold(-1, window, 1)).sum(-1)  # wrong\n',
    ],
)  # fmt: skip
def test_a_planted_answer_is_found(text: str, wanted: list[Secret]) -> None:
    assert leaks.find_in_text(text, wanted)


@pytest.mark.parametrize(
    "text",
    [
        "def moving_average(x, window):\n    # YOUR CODE HERE\n    raise NotImplementedError()\n",
        "runs = x.unfold(-1, window, 1)\nprint(runs.shape)\n",
        "The signal is cut into runs by `x.unfold(-1, window, 1)`, and `runs.mean(-1)` averages each.",
        "total = y.unfold(-1, 3, 1).sum(-1)\n",
        "",
        "{not json",
        "<html><body>Nothing here</body></html>",
    ],
)  # fmt: skip
def test_what_may_be_shown_is_let_be(text: str, wanted: list[Secret]) -> None:
    assert leaks.find_in_text(text, wanted) == []


def test_one_statement_is_secret_under_its_own_name_alone(source: Source, of_the_course: list[Secret]) -> None:
    wanted = [secret for secret in of_the_course if secret.what == "the answer of clones"]
    assert [secret.function for secret in wanted] == ["clones"]
    (function,) = ast.parse(solved_answers(source)["clones"]).body
    assert isinstance(function, ast.FunctionDef)
    body = function.body[-1]
    assert isinstance(body, ast.Return) and body.value is not None
    expression = ast.unparse(body.value)
    assert leaks.find_in_text(f"copies = {expression}\n", wanted) == []
    assert leaks.find_in_text(f"def another(module, N):\n    return {expression}\n", wanted) == []
    assert leaks.find_in_text(f"def clones(module, N):\n    return {expression}\n", wanted)
    assert leaks.find_in_text(f"clones = lambda module, N: {expression}\n", wanted)
    prose = f"Not Python: def clones(module, N): return {expression} and so on"
    assert leaks.find_in_text(prose, wanted)


def test_stand_ins_and_both_banks_are_secret(second: Source, wanted: list[Secret]) -> None:
    assert leaks.find_in_text(second.stand_ins, wanted)
    for variant in (*second.wrong, *second.right):
        assert leaks.find_in_text(variant.code, wanted), variant.path


def test_every_answer_and_variant_of_the_course_is_found_when_planted(
    source: Source, of_the_course: list[Secret]
) -> None:
    named = {secret.what for secret in of_the_course}
    for exercise in source.assignment.by_name:
        assert f"the answer of {exercise}" in named
    for variant in (*source.wrong, *source.right):
        page = f"# A page\n\n```python\n{variant.code}```\n"
        assert leaks.find_in_text(page, of_the_course), variant.path
    assert leaks.find_in_text(json.dumps({"cell": source.notebook.read_text(encoding="utf-8")}), of_the_course)


def test_a_zip_is_opened_and_the_wheel_inside_it(tmp_path: Path, wanted: list[Secret]) -> None:
    wheel = tmp_path / "engine.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("engine/answers.py", FUNCTION)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(wheel, "course/wheels/engine.whl")
    found = leaks.find([tmp_path / "all.zip"], wanted)
    assert [leak.where for leak in found] == ["all.zip/course/wheels/engine.whl/engine/answers.py"]
    assert "the answer of moving_average" in str(found[0])
    (tmp_path / "packed.gz").write_bytes(gzip.compress(FUNCTION.encode()))
    assert leaks.find([tmp_path / "packed.gz"], wanted)


def test_nothing_leaks_from_this_course(course: Course, source: Source) -> None:
    assert (course.released / source.assignment.name).is_dir()
    assert leaks.find_in_release(course, source) == []


def test_the_engine_and_its_pages_hold_no_answer(of_the_course: list[Secret]) -> None:
    assert leaks.find([ROOT / "autograder"], of_the_course) == []


def test_no_chapter_holds_an_answer(of_the_course: list[Secret]) -> None:
    assert leaks.find([ROOT / "book"], [secret for secret in of_the_course if not secret.may_be_taught]) == []

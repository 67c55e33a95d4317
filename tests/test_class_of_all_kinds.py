"""A class of sixty in which every kind of file, accident and attack stands: one row each, a status, a reason in words.

All are graded in one run, as `autograder grade` does it. The honest ones get what they get alone.
"""

from __future__ import annotations

import csv
import io
import json
import os
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attack_support import ATTACKS, submission
from sample_class import without_metadata

from autograder import cli
from autograder.course import Course, Source
from autograder.grading.submission import Grader
from autograder.grading.writing import file_name, read_result

Notebook = Callable[..., bytes]
SEED = 11  # that of the shared grader
SIZE = 60
HOSTILE = ("forged_reply", "fork_loop", "segmentation_fault", "script_in_messages", "startup_files", "channel_garbage")


def edited(data: bytes, edit: Callable[[list[dict[str, Any]]], Any]) -> bytes:
    """The notebook after `edit(cells)`, which changes the list or returns another."""
    notebook = json.loads(data)
    notebook["cells"] = edit(notebook["cells"]) or notebook["cells"]
    return json.dumps(notebook).encode()


def grade_id(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def nbgrader(cell: dict[str, Any]) -> dict[str, Any]:
    metadata: dict[str, Any] = cell["metadata"]["nbgrader"]
    return metadata


def without_checks(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [cell for cell in cells if not grade_id(cell).startswith("check-")]


def each(change: Callable[[dict[str, Any]], Any], name: str) -> Callable[[list[dict[str, Any]]], None]:
    """Changes the one cell of that name."""

    def edit(cells: list[dict[str, Any]]) -> None:
        for cell in cells:
            if grade_id(cell) == name:
                change(cell)

    return edit


def copied_check(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for cell in cells for one in ([cell, dict(cell)] if grade_id(cell).startswith("check-") else [cell])]


def split_answer(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`masks` has three functions: each in a cell of its own."""
    made = []
    for cell in cells:
        if grade_id(cell) != "masks":
            made.append(cell)
            continue
        parts = ("def " + part for part in "".join(cell["source"]).split("def ")[1:])
        made += [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": part}
            for part in parts
        ]
    return made


def moved_to_the_end(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [c for c in cells if grade_id(c) != "split_heads"] + [c for c in cells if grade_id(c) == "split_heads"]


def version_3(data: bytes) -> bytes:
    cells = [
        {
            "cell_type": "code",
            "input": cell["source"],
            "language": "python",
            "outputs": [],
            "metadata": {},
            "collapsed": False,
        }
        for cell in json.loads(data)["cells"]
        if cell["cell_type"] == "code"
    ]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()


def zipped(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.ipynb", data)
    return buffer.getvalue()


def kinds(good: bytes) -> dict[str, tuple[bytes, str]]:
    """Name → bytes, and what is expected: a score, or words of the reason."""
    notebook = json.loads(good)
    bare = json.dumps(without_metadata(notebook)).encode()
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    much = {"output_type": "stream", "name": "stdout", "text": "x" * (30 << 20)}
    broken = {"cell_type": "code", "metadata": {}, "source": "def broken(:"}
    merge = good.decode().replace('"cells"', '<<<<<<< HEAD\n"cells"\n=======\n"cells"\n>>>>>>> theirs\n', 1).encode()
    return {
        "check-copied": (edited(good, copied_check), "100"),
        "check-deleted": (edited(good, without_checks), "100"),
        "check-emptied": (edited(good, each(lambda c: c.update(source=""), "check-masks")), "100"),
        "check-edited": (edited(good, each(lambda c: c.update(source="assert False"), "check-masks")), "100"),
        "check-markdown": (edited(good, each(lambda c: c.update(cell_type="markdown"), "check-masks")), "100"),
        "check-raw": (edited(good, each(lambda c: c.update(cell_type="raw"), "check-masks")), "100"),
        "answer-split": (edited(good, split_answer), "100"),
        "answer-raw": (edited(good, each(lambda c: c.update(cell_type="raw"), "split_heads")), "100"),
        "answer-moved": (edited(good, moved_to_the_end), "100"),
        "answer-below": (
            edited(good, lambda cells: [{**c, "metadata": {}, "source": c["source"]} for c in cells]), "100",
        ),
        "metadata-lost": (bare, "100"),
        "points-changed": (edited(good, each(lambda c: nbgrader(c).update(points=-5), "check-masks")), "100"),
        "schema-missing": (edited(good, each(lambda c: nbgrader(c).pop("schema_version"), "masks")), "100"),
        "old-minor": (json.dumps({**notebook, "nbformat_minor": 2}).encode(), "100"),
        "future-minor": (json.dumps({**notebook, "nbformat_minor": 99, "nbformat": 7}).encode(), "100"),
        "duplicate-ids": (edited(good, lambda cells: [c.update(id="same") for c in cells] and None), "100"),
        "version-3": (version_3(good), "100"),
        "byte-order-mark": (b"\xef\xbb\xbf" + good, "100"),
        "utf-16": (good.decode().encode("utf-16"), "100"),
        "crlf": (good.replace(b"\n", b"\r\n"), "100"),
        "surrogates": (good.replace(b'"# ', b'"# \\ud800\\u0000', 1), "100"),
        "stored-output": (edited(good, each(lambda c: c.update(outputs=[much]), "masks")), "100"),
        "syntax-error-elsewhere": (edited(good, lambda cells: [*cells, broken]), "100"),
        "empty": (b"", "empty"),
        "blank": (b" \n\n", "empty"),
        "cut-off": (good[: len(good) // 2], "cut off"),
        "login-page": (b"<!DOCTYPE html><html><title>Log in</title></html>", "web page"),
        "list": (b"[]", "no cells"),
        "null": (b"null", "no cells"),
        "deep": (b"[" * 100_000, "nested too deeply"),
        "deep-cells": (json.dumps({"cells": deep}).encode(), "none of its cells"),
        "merge": (merge, "unfinished merge"),
        "zip-renamed": (zipped(good), "zip archive"),
        "pdf-renamed": (b"%PDF-1.7 ...", "a PDF"),
        "another-notebook": (json.dumps({**notebook, "cells": notebook["cells"][:1]}).encode(), "none of its cells"),
        "hw (1)": (good, "100"),
        "a [b] + c=d": (good, "100"),
        unicodedata.normalize("NFD", "José"): (good, "100"),
        "-rf": (good, "100"),
        "=1+1": (good, "100"),
        "con": (good, "100"),
    }  # fmt: skip


def in_the_way(folder: Path) -> dict[str, str]:
    """Files that are no ordinary file, and what is said of them."""
    (folder / "link.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.ipynb")
    with (folder / "sparse.ipynb").open("wb") as file:
        file.truncate(1 << 30)
    expected = {"link": "symbolic link", "pipe": "not a regular file", "sparse": "1024 MB"}
    if os.getuid() != 0:
        (folder / "unreadable.ipynb").write_bytes(b"{}")
        (folder / "unreadable.ipynb").chmod(0)
        expected["unreadable"] = "cannot be opened"
    for name in ("conftest.py", "torch.py", "sitecustomize.py", "pytest.ini", "autograder.py"):
        (folder / name).write_text("raise SystemExit(99)\n", encoding="utf-8")
    return expected


@pytest.fixture(scope="module")
def expected(
    tmp_path_factory: pytest.TempPathFactory, notebook_with: Notebook, course: Course, source: Source
) -> tuple[Path, dict[str, str]]:
    """The class in its folder, and what each student is expected to get."""
    folder = tmp_path_factory.mktemp("class")
    good = notebook_with()
    expected = in_the_way(folder)
    for name, (data, what) in kinds(good).items():
        (folder / f"{name}.ipynb").write_bytes(data)
        expected[unicodedata.normalize("NFC", name)] = what  # one student in either form
    (folder / "SHOUTING.IPYNB").write_bytes(good)
    expected["SHOUTING"] = "100"
    for attack in ATTACKS:
        if attack.name in HOSTILE:
            (folder / f"hostile-{attack.name}.ipynb").write_bytes(submission(course, source, attack))
            expected[f"hostile-{attack.name}"] = ""
    wrong = [one for one in source.wrong if one.exercise == "split_heads"]
    for number in range(SIZE - len(expected)):
        variant = wrong[number % len(wrong)]
        (folder / f"honest-{number:02}.ipynb").write_bytes(notebook_with({"split_heads": variant.code}))
        expected[f"honest-{number:02}"] = "honest"
    return folder, expected


@pytest.fixture(scope="module")
def graded(expected: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("grades")
    assert cli.main(["grade", str(expected[0]), "--output", str(output), "--seed", str(SEED), "--jobs", "2"]) == 1
    return output


COLUMNS = [
    "student", "status", "score", "max_score", "predict", "attention", "clones", "split_heads", "masks", "merge_heads",
    "mix_heads", "MultiHeadedAttention", "load_torch_weights", "silence_head", "flags", "reason",
]  # fmt: skip


def test_each_has_one_row_a_status_and_a_reason_in_words(expected: tuple[Path, dict[str, str]], graded: Path) -> None:
    with (graded / "grades.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        rows = list(reader)
    assert reader.fieldnames == COLUMNS
    assert len(rows) == SIZE == len(expected[1])
    assert {row["student"].removeprefix("'") for row in rows} == set(expected[1])
    for row in rows:
        what = expected[1][row["student"].removeprefix("'")]
        if what in ("100", "honest", ""):
            assert (row["status"], row["reason"]) == ("graded", ""), row
            assert what != "100" or row["score"] == "100", row
        else:
            assert (row["status"], row["score"]) == ("ungradable", ""), row
            assert what in row["reason"] and row["reason"].endswith("."), row
            assert "Traceback" not in row["reason"] and len(row["reason"]) < 300
        name = file_name(row["student"].removeprefix("'"))
        assert (graded / "students" / f"{name}.html").exists() and (graded / "students" / f"{name}.json").exists()


def test_the_honest_get_what_they_get_alone(
    expected: tuple[Path, dict[str, str]], graded: Path, grader: Grader
) -> None:
    folder, what = expected
    honest = [student for student in what if what[student] == "honest"]
    assert honest
    for student in honest[:3]:
        alone = grader.grade(student, folder / f"{student}.ipynb")
        among = read_result(graded / "students" / f"{file_name(student)}.json")
        assert among is not None and (among.score, among.exercises) == (alone.score, alone.exercises)


def test_nothing_is_left_behind(expected: tuple[Path, dict[str, str]], graded: Path) -> None:
    assert not list(graded.rglob(".writing-*"))
    assert not list(expected[0].rglob("__pycache__"))
    assert {path.suffix for path in (graded / "students").iterdir()} == {".json", ".html"}


def test_equal_submissions_are_flagged_whoever_grades_them(expected: tuple[Path, dict[str, str]], graded: Path) -> None:
    result = read_result(graded / "students" / "hw (1).json")
    assert result is not None
    assert any("equal those of" in flag for flag in result.flags)
    page = (graded / "students" / "hw (1).html").read_text(encoding="utf-8")
    assert "equal those of" not in page  # it names others


def test_changed_cells_are_flagged_and_cost_nothing(graded: Path) -> None:
    for student, flagged in (
        ("check-edited", "check-masks"),
        ("check-deleted", "check-predict"),
        ("metadata-lost", ""),
    ):
        result = read_result(graded / "students" / f"{student}.json")
        assert result is not None and result.score == 100
        flags = [flag for flag in result.flags if "left as they are" in flag]
        assert bool(flags) == bool(flagged) and all(flagged in flag for flag in flags)

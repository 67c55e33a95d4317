"""What somebody edited under students/ is left out, in a sentence, and never ends a report."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import page_samples as samples
import pytest
from course_copies import SECOND

from autograder import cli
from autograder.course import Course
from autograder.grading.writing import from_json, json_text, read_result, read_results, write_csv

NAME = "smoothing"


def written(folder: Path, student: str) -> dict[str, Any]:
    """A sound result in the folder, and its JSON object."""
    text = json_text(samples.graded(student, [samples.failing(), samples.full()]))
    (folder / "students").mkdir(parents=True, exist_ok=True)
    (folder / "students" / f"{student}.json").write_text(text, encoding="utf-8")
    return dict(json.loads(text))


def first_check(table: dict[str, Any]) -> dict[str, Any]:
    check: dict[str, Any] = table["exercises"][0]["checks"][0]
    return check


EDITS: list[Callable[[dict[str, Any]], object]] = [
    lambda table: table.update(score="six"),
    lambda table: table.update(score=float("nan")),
    lambda table: table.update(score=None),
    lambda table: table.update(score=table["score"] + 1),
    lambda table: table["exercises"][0].update(score=table["exercises"][0]["score"] + 1),
    lambda table: first_check(table).update(status="passed"),
    lambda table: table.update(score=True),
    lambda table: table.update(max_score=float("inf")),
    lambda table: table.update(status="passed"),
    lambda table: table.update(student=3),
    lambda table: table.update(student="ada2"),
    lambda table: table.update(flags="a flag"),
    lambda table: table.update(flags=[1]),
    lambda table: table.update(seed=1.5),
    lambda table: table.update(layers={"seccomp": "yes"}),
    lambda table: table.update(exercises=None),
    lambda table: table.update(exercises={"a": 1}),
    lambda table: table.update(moved=[{"exercise": "a", "before": "1", "after": 2}]),
    lambda table: table.update(more=1),
    lambda table: table.pop("status"),
    lambda table: table["exercises"][0].update(score="4"),
    lambda table: table["exercises"][0].pop("name"),
    lambda table: first_check(table).update(points=None),
    lambda table: first_check(table).update(stage=7),
    lambda table: first_check(table).update(picture=[1]),
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_a_value_of_another_kind_makes_it_no_result_of_ours(tmp_path: Path, edit: Callable[[Any], object]) -> None:
    table = written(tmp_path, "ada")
    path = tmp_path / "students" / "ada.json"
    assert read_result(path) == from_json(table)
    edit(table)
    path.write_text(json.dumps(table), encoding="utf-8")
    assert read_result(path) is None


@pytest.mark.parametrize("text", ["", "[]", "null", '{"student": "ada"}', "[" * 100_000])
def test_neither_is_any_other_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ada.json"
    path.write_text(text, encoding="utf-8")
    assert read_result(path) is None


def test_report_and_grades_say_whom_they_leave_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, "ada")
    edited = written(tmp_path, "ben")
    (tmp_path / "students" / "ben.json").write_text(json.dumps({**edited, "score": "six"}), encoding="utf-8")
    (tmp_path / "run.json").write_text(json.dumps({"assignment": NAME, "seed": 1}), encoding="utf-8")
    monkeypatch.chdir(SECOND)
    assert cli.main(["report", str(tmp_path)]) == cli.OK
    assert "left out, because they are no results as grading wrote them: ben.json" in capsys.readouterr().err
    assert ">ada<" in (tmp_path / "report.html").read_text(encoding="utf-8")
    write_csv(tmp_path, Course(SECOND).source().assignment)
    assert "ben.json" in capsys.readouterr().err
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        assert [row["student"] for row in csv.DictReader(file)] == ["ada"]


def test_where_nothing_was_edited_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "ada")
    assert [result.student for result in read_results(tmp_path)] == ["ada"]
    assert capsys.readouterr().err == ""

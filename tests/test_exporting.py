"""Grades out: what each system's own importer asks for, read back by a strict reader."""

from __future__ import annotations

import csv
import json
import re
import stat
import zipfile
from pathlib import Path

import page_samples as samples
import pytest
from gradescope_format import conforms

from autograder.exporting import (
    ExportError,
    csv_row,
    defused,
    export,
    gradescope_results,
    read_grades_csv,
    write_grades_csv,
)
from autograder.results import ExerciseResult, SubmissionResult

NAMES = ["split_heads", "MultiHeadedAttention", "masks"]
FORMULAS = ['=HYPERLINK("http://evil.example")', "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1"]


def rows() -> list[dict[str, str]]:
    exercises = [samples.failing(), samples.full()]
    results = [
        samples.graded("ada", exercises),
        samples.graded('Müller, "Ännchen" 金', exercises),
        samples.ungradable("bob"),
        samples.error("eve"),
    ]
    return [csv_row(result, NAMES) for result in results]


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def test_a_row_has_the_columns_of_grades_csv() -> None:
    row = rows()[0]
    assert list(row) == ["student", "status", "score", "max_score", *NAMES, "flags", "reason"]
    assert row["score"] == "22" and row["max_score"] == "100"
    assert row["split_heads"] == "4" and row["MultiHeadedAttention"] == "18" and row["masks"] == ""


def test_scores_have_two_decimals_at_most() -> None:
    result = SubmissionResult("a", "m", "graded", 100.0, 87.25, exercises=[ExerciseResult("masks", 3.5, 12.0)])
    row = csv_row(result, NAMES)
    assert (row["score"], row["masks"]) == ("87.25", "3.5")


def test_without_a_score_cells_are_empty_and_the_reason_stands() -> None:
    bob = rows()[2]
    assert bob["status"] == "ungradable" and bob["score"] == bob["split_heads"] == ""
    assert bob["reason"].startswith("bob.ipynb is not a notebook")


@pytest.mark.parametrize("formula", FORMULAS)
def test_what_a_spreadsheet_would_run_is_made_text(formula: str) -> None:
    assert defused(formula) == "'" + formula
    assert defused(defused(formula)) == defused(formula)


def test_a_carriage_return_ends_no_row(tmp_path: Path) -> None:
    write_grades_csv(
        [csv_row(samples.ungradable("a\rb"), NAMES), csv_row(samples.error("c\r\nd"), NAMES)], tmp_path / "g"
    )
    assert [row[0] for row in read(tmp_path / "g")[1:]] == ["a\nb", "c\nd"]


@pytest.mark.parametrize("cell", ["", "ada", "12.5", "-1", "+3", "a=b", "'=1"])
def test_everything_else_stays_as_it_is(cell: str) -> None:
    assert defused(cell) == cell


@pytest.mark.parametrize("to", ["csv", "canvas", "moodle"])
def test_no_table_holds_a_formula(to: str, tmp_path: Path) -> None:
    found = [csv_row(samples.graded(formula, [samples.failing()]), [*NAMES, "=evil"]) for formula in FORMULAS]
    export(found, to, tmp_path / "out.csv", title="=1+1")
    for row in read(tmp_path / "out.csv"):
        for cell in row:
            assert not re.match(r"\s*[=+\-@＝]", cell), cell


def test_grades_csv_survives_writing_and_reading(tmp_path: Path) -> None:
    write_grades_csv(rows(), tmp_path / "grades.csv")
    assert read_grades_csv(tmp_path / "grades.csv") == rows()


def test_grades_csv_of_nobody_has_a_header(tmp_path: Path) -> None:
    write_grades_csv([], tmp_path / "grades.csv")
    assert read(tmp_path / "grades.csv") == [["student", "status", "score", "max_score", "flags", "reason"]]


def test_text_that_is_no_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    write_grades_csv([csv_row(samples.ungradable("a\udc80b"), NAMES)], tmp_path / "grades.csv")
    assert read(tmp_path / "grades.csv")[1][0] == "a\\udc80b"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    write_grades_csv(rows(), path)
    before = path.read_bytes()

    def interrupted():  # type: ignore[no-untyped-def]
        yield rows()[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_grades_csv(interrupted(), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["grades.csv"]


def test_canvas_finds_its_five_columns_the_points_row_and_only_scores(tmp_path: Path) -> None:
    written = export(rows(), "canvas", tmp_path / "canvas.csv", title="Multi-head attention (1234)")
    header, worth, *students = read(tmp_path / "canvas.csv")
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Multi-head attention (1234)"]
    assert "Points Possible" in worth[0] and worth[1:] == ["", "", "", "", "100"]
    assert students[0] == ["ada", "", "", "ada", "", "22"]
    assert {len(row) for row in (header, worth, *students)} == {6}
    assert [row[0] for row in students] == ["ada", 'Müller, "Ännchen" 金']
    assert written.left_out == ("bob", "eve") and written.students == 2
    assert "bob, eve" in str(written)


def test_moodle_gets_one_column_that_names_the_user_and_a_grade_item_each(tmp_path: Path) -> None:
    export(rows(), "moodle", tmp_path / "moodle.csv", title="MHA")
    header, *students = read(tmp_path / "moodle.csv")
    assert header == ["Username", "MHA", "MHA: split_heads", "MHA: MultiHeadedAttention", "MHA: masks"]
    assert students[0] == ["ada", "22", "4", "18", ""]
    assert len(students) == 2


def test_gradescope_gets_one_documented_file_per_student(tmp_path: Path) -> None:
    found = [*rows(), csv_row(samples.graded("../../etc/passwd", [samples.failing()]), NAMES)]
    export(found, "gradescope", tmp_path / "out.zip", title="MHA")
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        names = archive.namelist()
        assert "ada/results.json" in names and len(names) == 3
        assert all(name.count("/") == 1 and not name.startswith(".") for name in names)
        for name in names:
            conforms(json.loads(archive.read(name)))
        ada = json.loads(archive.read("ada/results.json"))
    assert ada["score"] == 22.0
    assert [(test["name"], test["score"]) for test in ada["tests"]] == [
        ("split_heads", 4.0),
        ("MultiHeadedAttention", 18.0),
    ]


def test_gradescope_results_have_a_test_for_each_rule() -> None:
    result = samples.graded("ada", [samples.failing(), samples.full()])
    found = gradescope_results(result)
    conforms(found)
    assert found["score"] == sum(test["score"] for test in found["tests"]) == result.score
    failed = next(test for test in found["tests"] if "Head i holds" in test["name"])
    assert failed["status"] == "failed" and "whole tokens" in failed["output"] and failed["number"] == "1.2"
    json.dumps(found, allow_nan=False)


def test_gradescope_is_never_told_a_zero_that_is_none() -> None:
    found = gradescope_results(samples.ungradable())
    assert "score" not in found and found["tests"] == []
    assert "not a notebook" in found["output"]


def test_a_folder_as_destination_gets_a_file_named_after_the_system(tmp_path: Path) -> None:
    for to, name in [("csv", "export-csv.csv"), ("gradescope", "export-gradescope.zip")]:
        assert export(rows(), to, tmp_path).path == tmp_path / name
        assert (tmp_path / name).is_file()


def test_plain_csv_keeps_everybody(tmp_path: Path) -> None:
    export(rows(), "csv", tmp_path / "all.csv")
    assert read_grades_csv(tmp_path / "all.csv") == rows()


def test_mistakes_are_told_in_sentences(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"no export to blackboard. Choose one of csv, canvas, moodle, gradescope."):
        export(rows(), "blackboard", tmp_path / "x")
    with pytest.raises(ExportError, match=r"no submission has a score"):
        export(rows()[2:], "canvas", tmp_path / "x")
    with pytest.raises(ExportError, match=r"Cannot write .*Choose a folder"):
        export(rows(), "canvas", tmp_path / "missing" / "x.csv")
    with pytest.raises(ExportError, match=r"the columns status, score, max_score, flags, reason are missing"):
        export([{"student": "a"}], "csv", tmp_path / "x")
    with pytest.raises(ExportError, match=r"Cannot read .*autograder grade"):
        read_grades_csv(tmp_path / "none.csv")
    (tmp_path / "broken.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ExportError, match="not a table of grades"):
        read_grades_csv(tmp_path / "broken.csv")


def test_exports_can_be_read_by_colleagues(tmp_path: Path) -> None:
    export(rows(), "csv", tmp_path / "all.csv")
    assert stat.S_IMODE((tmp_path / "all.csv").stat().st_mode) & 0o400

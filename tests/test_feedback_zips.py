"""Pages handed back in bulk: read by the rules with which Canvas and Moodle read the names in such a zip."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import page_samples as samples
import pytest
from gradescope_format import conforms

from autograder import cli
from autograder.course import Course
from autograder.exporting import ExportError
from autograder.feedback_zips import names_in, write_feedback
from autograder.grading.finding import find
from autograder.grading.writing import file_name, write_csv, write_result

NAME = "multi_head_attention"
CANVAS = {
    "lovelaceada_40901_700001_multi_head_attention.ipynb": "lovelaceada",
    "turingalan_LATE_40902_700002_link_my_work.ipynb": "turingalan",
    "hoppergrace_40903_700003_multi_head_attention.pdf": "hoppergrace",
}
MOODLE = {
    "Ada Lovelace_1234568_assignsubmission_file/multi_head_attention.ipynb": "Ada Lovelace",
    "José Ñandú_1234567_assignsubmission_file/work/multi_head_attention.ipynb": "José Ñandú",
    "Alan Turing_1234569_assignsubmission_onlinetext/onlinetext.html": "Alan Turing",
}


def canvas_reads(name: str) -> tuple[int, int] | None:
    """User and file, as Canvas infers them from the name of a file that is uploaded again."""
    parts = Path(name).name.split("_")
    numbers = [part for part in parts if re.fullmatch(r"\d+", part)][:2]
    if len(numbers) < 2 or parts[-1].startswith("link") or name.startswith("._"):
        return None
    return int(numbers[0]), int(numbers[1])


def moodle_reads(name: str) -> tuple[int, str] | None:
    """Participant and name of the page, as Moodle's importer of feedback files takes them from a path."""
    parts = name.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdigit() and (info[2], info[3]) == ("assignsubmission", "file"):
            return int(info[1]), "/".join([*info[4:], *parts])
    return None


def handed_out(path: Path, names: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return path


@pytest.fixture
def graded(course: Course, tmp_path: Path) -> Path:
    """Results of a class, as grading leaves them."""
    assignment = course.source().assignment
    folder = tmp_path / "grades"
    students = [*CANVAS.values(), *MOODLE.values(), "nobody of these"]
    for student in students:
        result = samples.graded(student, [samples.failing(), samples.full()])
        if student in ("hoppergrace", "Alan Turing"):
            result = replace(samples.ungradable(student), assignment=assignment.name)
        else:
            flag = "The answers equal those of a friend."
            result = replace(result, assignment=assignment.name, flags=(*result.flags, flag))
        write_result(result, assignment, folder)
    write_csv(folder, assignment)
    (folder / "run.json").write_text(json.dumps({"assignment": assignment.name, "seed": 1}), encoding="utf-8")
    return folder


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_canvas_finds_user_and_file_of_each_page(course: Course, graded: Path, tmp_path: Path) -> None:
    names = names_in(find([handed_out(tmp_path / "c.zip", CANVAS)], NAME), "canvas")
    written = write_feedback(graded, course.source().assignment, "canvas", names)
    pages = members(written.path)
    assert sorted(filter(None, map(canvas_reads, pages))) == [(40901, 700001), (40902, 700002), (40903, 700003)]
    assert len(pages) == 3 and all(name.endswith(".html") for name in pages)
    (ada,) = (page for name, page in pages.items() if name.startswith("lovelaceada"))
    assert ada == (graded / "students" / "lovelaceada.html").read_bytes()
    assert set(written.left_out) == {*MOODLE.values(), "nobody of these"}


def test_moodle_finds_the_participant_of_each_page(course: Course, graded: Path, tmp_path: Path) -> None:
    zipped = handed_out(tmp_path / "m.zip", MOODLE)
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(folder)
    for path in (zipped, folder):
        names = names_in(find([path], NAME), "moodle")
        written = write_feedback(graded, course.source().assignment, "moodle", names)
        read = sorted(filter(None, map(moodle_reads, members(written.path))))
        assert read == [(number, "feedback.html") for number in (1234567, 1234568, 1234569)]


def test_gradescope_gets_results_with_a_test_for_each_rule_and_no_other_students_name(
    course: Course, graded: Path
) -> None:
    pages = members(write_feedback(graded, course.source().assignment, "gradescope", {}).path)
    results = json.loads(pages["lovelaceada/results.json"])
    conforms(results)
    assert len(results["tests"]) == len(samples.failing().checks) + len(samples.full().checks)
    assert "friend" not in results["output"] and "Reread" in " ".join(test["output"] for test in results["tests"])
    assert pages["lovelaceada/feedback.html"].startswith(b"<!DOCTYPE html>")
    conforms(json.loads(pages["hoppergrace/results.json"]))


def test_without_a_system_every_page_is_named_after_its_student(course: Course, graded: Path) -> None:
    pages = members(write_feedback(graded, course.source().assignment, "csv", {}).path)
    assert set(pages) == {path.name for path in (graded / "students").glob("*.html")}


def test_what_is_missing_is_told_in_sentences(course: Course, graded: Path, tmp_path: Path) -> None:
    assignment = course.source().assignment
    with pytest.raises(ExportError, match=r"Canvas finds students by the numbers .*--submissions PATH"):
        write_feedback(graded, assignment, "canvas", {})
    found = find([handed_out(tmp_path / "c.zip", CANVAS)], NAME)
    with pytest.raises(ExportError, match="None of these submissions has a name as Moodle gives it"):
        names_in(found, "moodle")
    strangers = {f"stranger{name}": "" for name in CANVAS}
    names = names_in(find([handed_out(tmp_path / "s.zip", strangers)], NAME), "canvas")
    with pytest.raises(ExportError, match="no result belongs to one of these"):
        write_feedback(graded, assignment, "canvas", names)
    assert not list(graded.glob("*.zip")) and not list(graded.glob(".writing*"))


def test_the_command_writes_grades_with_the_systems_numbers_and_pages(
    course: Course, graded: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(course.root)
    for to, handed in (("canvas", CANVAS), ("moodle", MOODLE)):
        path = handed_out(tmp_path / f"{to}.zip", handed)
        command = ["export", str(graded), "--to", to, "--feedback", "--submissions", str(path)]
        assert cli.main(command) == cli.SOME_FAILED
        said = capsys.readouterr()
        assert f"feedback-{to}.zip" in said.out and "because they are not among these submissions: " in said.out
        lacks = "Ada Lovelace" if to == "canvas" else "lovelaceada"
        assert "autograder: not among these submissions, so without a number: " in said.err and lacks in said.err
    rows = list(csv.reader((graded / "export-canvas.csv").open(encoding="utf-8", newline=""), strict=True))
    assert {row[0]: row[1] for row in rows[2:]}["lovelaceada"] == "40901"
    assert {row[0]: row[1] for row in rows[2:]}["Ada Lovelace"] == ""
    with (graded / "export-moodle-worksheet.csv").open(encoding="utf-8", newline="") as file:
        worksheet = {row["Identifier"]: row for row in csv.DictReader(file, strict=True)}
    assert set(worksheet) == {"Participant 1234567", "Participant 1234568"}  # who has a score
    assert worksheet["Participant 1234568"]["Grade"] == "22"
    assert list(worksheet["Participant 1234568"]) == ["Identifier", "Full name", "Grade", "Last modified (grade)"]


def test_submissions_of_another_class_are_refused(
    course: Course, graded: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(course.root)
    path = handed_out(tmp_path / "other.zip", {f"Stranger {name}": "" for name in MOODLE})
    assert cli.main(["export", str(graded), "--to", "moodle", "--submissions", str(path)]) == cli.WRONG_USAGE
    assert "None of the students in" in capsys.readouterr().err
    assert not (graded / "export-moodle.csv").exists()


def test_the_command_says_what_it_needs(course: Course, graded: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(course.root)
    assert cli.main(["export", str(graded), "--to", "moodle", "--feedback"]) == 2
    assert "--submissions PATH" in capsys.readouterr().err


ODD = {
    "csv": ["bad\udcff", "-rf", "=1+1"],
    "canvas": ["lovelaceada_40901_700001_bad\udcff"],
    "moodle": ["Ada \udcff_1234568_assignsubmission_file_bad\udcff", "-rf_1234569_assignsubmission_file_x"],
    "gradescope": ["bad\udcff", "-rf", "=1+1"],
}


@pytest.mark.parametrize("system", list(ODD))
def test_names_that_are_no_utf_8_or_look_like_formulas_are_exported_to_every_system(
    course: Course, tmp_path: Path, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.root)
    assignment = course.source().assignment
    submitted, folder = tmp_path / "submitted", tmp_path / "grades"
    submitted.mkdir()
    for name in ODD[system]:
        (submitted / f"{name}.ipynb").write_text("{}", encoding="utf-8")
    students = [one.student for one in find([submitted], NAME)]
    for student in students:
        result = samples.graded(student, [samples.failing()])
        note = "Another notebook was handed in and not graded: \udcff.ipynb."
        write_result(replace(result, assignment=assignment.name, flags=(note,)), assignment, folder)
    write_csv(folder, assignment)
    (folder / "run.json").write_text(json.dumps({"assignment": assignment.name, "seed": 1}), encoding="utf-8")
    named = ["--submissions", str(submitted)] if system in ("canvas", "moodle") else []
    assert cli.main(["export", str(folder), "--to", system, "--feedback", *named]) == 0
    pages = members(folder / f"feedback-{system}.zip")
    assert len([name for name in pages if name.endswith(".html")]) == len(students)
    if system == "csv":
        assert set(pages) == {f"{file_name(student)}.html" for student in students}
    if system == "gradescope":
        results = members(folder / "export-gradescope.zip")
        assert set(results) == {"bad%ED%B3%BF/results.json", "-rf/results.json", "=1+1/results.json"}
        assert set(results) == {name for name in pages if name.endswith(".json")}
        assert json.loads(results["-rf/results.json"])["extra_data"]["student"] == "-rf"
        for text in [*results.values(), *(page for name, page in pages.items() if name.endswith(".json"))]:
            assert json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    else:
        tables = list(folder.glob("export-*.csv"))
        assert tables and all("\\udcff" in path.read_text(encoding="utf-8") for path in tables if system != "canvas")

"""A class: the contract's files, exit codes, resuming, workers, and names that no file system likes.

On the second course, which is small; `test_class_of_all_kinds.py` grades a class of the course itself.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sample_class
from course_copies import copy_course

from autograder import cli, solved
from autograder.course import Course
from autograder.grading.writing import LONGEST_NAME, file_name, from_json, read_result, write_whole

NAME = "smoothing"
WRONG = "def moving_average(x, window):\n    return 1.0 * x.unfold(-1, window, 1)[..., 0]\n"
COLUMNS = ["student", "status", "score", "max_score", "moving_average", "Standardize", "flags", "reason"]
Write = Callable[..., bytes]

RESULT = [
    "student", "assignment", "status", "reason", "score", "max_score", "exercises", "flags", "isolation", "seed",
    "seconds", "sha256",
]  # fmt: skip


def rows(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "grades.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        found = {row["student"]: row for row in reader}
        assert reader.fieldnames == COLUMNS
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a results folder, the seconds a submission took set aside."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".json" and path.parent.name == "students":
                data = json.dumps({**json.loads(data), "seconds": 0}).encode()
            found[path.relative_to(folder).as_posix()] = data
    return found


@pytest.fixture(scope="module", autouse=True)
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """The second course, in which the commands are given."""
    copy = copy_course(tmp_path_factory.mktemp("course"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(copy.root)
        yield copy


@pytest.fixture(scope="module")
def solved_with(course: Course) -> Write:
    """Bytes of the solved notebook with some answers replaced."""
    notebook = json.loads(json.dumps(solved.solved_notebook(course.source(NAME))))
    return lambda **answers: json.dumps(sample_class.with_answers(notebook, answers)).encode()


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory: pytest.TempPathFactory, solved_with: Write) -> Path:
    folder = tmp_path_factory.mktemp("class")
    for i in range(4):
        (folder / f"s{i}.ipynb").write_bytes(solved_with(moving_average=WRONG) if i % 2 else solved_with())
    (folder / "broken.ipynb").write_bytes(b"<html>Log in</html>")
    (folder / "=cmd|'x'!A1.ipynb").write_bytes(solved_with())
    return folder


@pytest.fixture(scope="module")
def graded(class_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("grades")
    assert cli.main(["grade", str(class_folder), "--output", str(output), "--seed", "7", "--jobs", "2"]) == 1
    return output


def test_every_submission_ends_as_one_row_with_a_json_and_a_page(graded: Path) -> None:
    found = rows(graded)
    assert set(found) == {"s0", "s1", "s2", "s3", "broken", "'=cmd|'x'!A1"}
    assert (found["s0"]["status"], found["s0"]["score"], found["s0"]["max_score"]) == ("graded", "10", "10")
    assert float(found["s1"]["score"]) < 10 and float(found["s1"]["moving_average"]) < 6
    assert found["s1"]["Standardize"] == "4"
    assert found["broken"]["status"] == "ungradable" and found["broken"]["score"] == ""
    assert "web page" in found["broken"]["reason"]
    for path in (graded / "students").glob("*.json"):
        assert path.with_suffix(".html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_the_json_is_the_contracts(graded: Path) -> None:
    table = json.loads((graded / "students" / "s1.json").read_text(encoding="utf-8"))
    assert set(RESULT) <= table.keys()
    assert (table["student"], table["assignment"], table["seed"]) == ("s1", NAME, 7)
    assert table["isolation"] == "namespaces" and table["reason"] is None
    assert table["score"] == round(sum(one["score"] for one in table["exercises"]), 2)
    for exercise in table["exercises"]:
        passed = sum(check["points"] for check in exercise["checks"] if check["status"] == "passed")
        assert exercise["score"] == pytest.approx(passed)
        assert exercise["max_score"] == pytest.approx(sum(check["points"] for check in exercise["checks"]))
        for check in exercise["checks"]:
            assert {"name", "stage", "status", "points", "message", "hint", "misconception"} <= check.keys()
    broken = json.loads((graded / "students" / "broken.json").read_text(encoding="utf-8"))
    assert (broken["score"], broken["exercises"], broken["status"]) == (None, [], "ungradable")


def test_one_worker_and_two_give_the_same_bytes(graded: Path, class_folder: Path, tmp_path: Path) -> None:
    assert cli.main(["grade", str(class_folder), "--output", str(tmp_path), "--seed", "7", "--jobs", "1"]) == 1
    assert contents(tmp_path) == contents(graded)


def test_resuming_skips_who_is_done_keeps_the_seed_and_gives_the_same_bytes(
    graded: Path, class_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = shutil.copytree(graded, tmp_path / "grades")
    (output / "students" / "s2.json").unlink()
    (output / "students" / "s3.json").write_text('{"student": "s3"', encoding="utf-8")
    (output / "grades.csv").unlink()
    assert cli.main(["grade", str(class_folder), "--output", str(output), "--resume", "--jobs", "1"]) == 1
    assert "4 of them done before (seed 7)" in capsys.readouterr().out
    assert contents(output) == contents(graded)
    assert cli.main(["grade", str(class_folder), "--output", str(output), "--resume", "--seed", "8"]) == 2


def test_killed_in_the_middle_and_resumed_nothing_is_lost_and_nothing_left(
    graded: Path, class_folder: Path, tmp_path: Path
) -> None:
    output, temporary = tmp_path / "g", tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "autograder", "grade", str(class_folder), "--output", str(output), "--seed", "7"]
    process = subprocess.Popen(
        [*command, "--jobs", "2"], stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(temporary)}
    )
    until = time.monotonic() + 120
    while time.monotonic() < until and not list((output / "students").glob("*.json")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    while time.monotonic() < until and list(temporary.iterdir()):  # its workers hear of it
        time.sleep(0.1)
    assert list(temporary.iterdir()) == []
    assert cli.main(["grade", str(class_folder), "--output", str(output), "--resume", "--jobs", "1"]) == 1
    assert contents(output) == contents(graded)


def test_a_second_run_replaces_its_students_and_keeps_the_others(
    graded: Path, tmp_path: Path, solved_with: Write
) -> None:
    output = shutil.copytree(graded, tmp_path / "grades")
    again = tmp_path / "s1.ipynb"
    again.write_bytes(solved_with())
    assert cli.main(["grade", str(again), "--output", str(output), "--seed", "9"]) == 0
    assert rows(output)["s1"]["score"] == "10" and rows(output)["s3"] == rows(graded)["s3"]
    assert set(rows(output)) == set(rows(graded))


def test_only_prints_one_verdict_and_writes_nothing(class_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["grade", str(class_folder), "--seed", "7", "--only", "s1"]
    before = set(class_folder.rglob("*"))
    assert cli.main([*arguments, "--check", "moving_average"]) == 0
    out = capsys.readouterr().out
    assert f"s1, {NAME}, seed 7" in out and "moving_average" in out and "Standardize" not in out
    assert set(class_folder.rglob("*")) == before
    assert cli.main([*arguments, "--check", "nonsense"]) == 2
    assert cli.main(["grade", str(class_folder), "--only", "nobody"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "missing", "--output", "g"], "does not exist"),
        (["grade", "."], "holds no notebook"),
        (["grade", "s.ipynb"], "--output"),
        (["grade", "s.ipynb", "--output", "g", "--check", "x"], "--only"),
        (["grade", "s.ipynb", "--output", "g", "--assignment", "other"], "no assignment other"),
        (["report", "nowhere"], "holds no results"),
        (["export", "nowhere", "--to", "csv"], "holds no results"),
    ],
)
def test_wrong_usage_is_a_sentence_and_exit_code_2(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    course: Course,
    solved_with: Write,
) -> None:
    monkeypatch.setattr(cli, "_course", lambda: course)
    monkeypatch.chdir(tmp_path)
    if "s.ipynb" in arguments:
        (tmp_path / "s.ipynb").write_bytes(solved_with())
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("autograder: ") and words in error and "Traceback" not in error


def test_outside_a_course_the_command_says_where_it_looked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["grade", "x", "--output", "g"]) == 2
    assert "solutions" in capsys.readouterr().err


def test_a_student_whose_name_cannot_be_a_file_name_keeps_it_in_the_json() -> None:
    names = [
        "a/b",
        "..",
        ".hidden",
        "con",
        "a" * 300,
        "a" * 301,
        "é",
        "e\u0301",
        "x:y",
        "tab\t",
        "",
        "a%2Fb",
        "名前",
        "aux.txt",
    ]
    files = [file_name(name) for name in names]
    assert len(set(files)) == len(names)
    for file in files:
        assert "/" not in file and not file.startswith(".") and 0 < len(file.encode()) <= LONGEST_NAME
    for name in ("Ada Lovelace (2)", "José", "名前", "50%", "a+b@c.d"):
        assert file_name(name) == name
    assert file_name("a/b") == "a%2Fb" and file_name("a%2Fb") == "a%252Fb"
    for long in ("a" * 300, "名" * 99):  # nobody can be called what somebody's name was shortened to
        assert file_name(file_name(long)) != file_name(long)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")
    with pytest.raises(TypeError):
        write_whole(path, b"bytes are no text")  # type: ignore[arg-type]
    assert path.read_text(encoding="utf-8") == "old" and list(tmp_path.iterdir()) == [path]


def test_a_result_survives_its_json(graded: Path) -> None:
    path = graded / "students" / "s1.json"
    result = read_result(path)
    assert result is not None
    assert from_json(json.loads(json.dumps(result.as_json()))) == result


def test_report_and_exports_are_made_from_the_folder(graded: Path, tmp_path: Path) -> None:
    output = shutil.copytree(graded, tmp_path / "grades")
    assert cli.main(["report", str(output)]) == 0
    assert "s1" in (output / "report.html").read_text(encoding="utf-8")
    assert cli.main(["report", str(output), "--hide-names"]) == 0
    assert ">s1<" not in (output / "report.html").read_text(encoding="utf-8")
    for target in ("csv", "canvas", "moodle", "gradescope"):
        assert cli.main(["export", str(output), "--to", target]) == 0

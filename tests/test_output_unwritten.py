"""What a command prints may find no room, or no letters: that is one sentence, and what stands in files is whole."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from course_copies import copy_course

from autograder import cli, solved
from autograder.course import Course

FULL = Path("/dev/full")
NAME = "smoothing"
SENTENCE = (
    "autograder: What this command prints cannot be written: No space left on device. What it wrote into files is "
)
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The second course, with a class of one in `cls` and its results in `grades`."""
    copy = copy_course(tmp_path_factory.mktemp("course"))
    (copy.root / "cls").mkdir()
    notebook = json.dumps(solved.solved_notebook(copy.source(NAME)))
    (copy.root / "cls" / "Ünïcode.ipynb").write_text(notebook, encoding="utf-8")
    return copy


def ended(course: Course, *command: str, full: bool = True, **environment: str) -> tuple[int, bytes, str]:
    """Exit code, what was printed, and what was said beside it."""
    with FULL.open("wb") as nowhere:
        done = subprocess.run(
            [sys.executable, "-m", "autograder", *command], cwd=course.root, env={**os.environ, **environment},
            stdout=nowhere if full else subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=120,
        )  # fmt: skip
    return done.returncode, done.stdout or b"", done.stderr.decode()


def test_output_that_finds_no_room_is_told_in_one_sentence(course: Course) -> None:
    code, _out, error = ended(course, "grade", "cls", "--output", "grades", "--jobs", "1")
    assert code == cli.SOME_FAILED and error.startswith(SENTENCE) and error.count("\n") == 1, error
    with (course.root / "grades" / "grades.csv").open(encoding="utf-8", newline="") as file:
        assert [row["score"] for row in csv.DictReader(file)] == ["10"]
    for unbuffered in ("", "1"):
        code, _out, error = ended(course, "export", "grades", "--to", "csv", PYTHONUNBUFFERED=unbuffered)
        assert code == cli.SOME_FAILED and error.startswith(SENTENCE) and error.count("\n") == 1, error


def test_a_name_without_letters_for_it_is_printed_with_escapes(course: Course) -> None:
    code, out, error = ended(course, "grade", "cls", "--only", "Ünïcode", full=False, PYTHONIOENCODING="ascii")
    assert (code, error) == (cli.OK, "") and out.startswith(rb"\xdcn\xefcode, smoothing")


def test_a_report_that_cannot_be_written_is_told(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(course.root)
    (tmp_path / "run.json").write_text(json.dumps({"assignment": NAME, "seed": 1}), encoding="utf-8")
    (tmp_path / "report.html").mkdir()
    assert cli.main(["report", str(tmp_path)]) == cli.WRONG_USAGE
    assert capsys.readouterr().err.startswith(f"autograder: {tmp_path / 'report.html'} cannot be written: ")

"""What would lose a run's grades at its end is refused before its beginning."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from course_copies import SECOND

from autograder import cli
from autograder.grading import class_run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course in which grading must not begin."""
    shutil.copytree(SECOND / "solutions", tmp_path / "solutions")
    (tmp_path / "a.ipynb").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def begun(*_arguments: object, **_more: object) -> None:
        raise AssertionError("Grading has begun.")

    monkeypatch.setattr(class_run, "grade_class", begun)
    return tmp_path


def refusal(capsys: pytest.CaptureFixture[str], *more: str, output: str = "grades") -> str:
    assert cli.main(["grade", "a.ipynb", "--output", output, *more]) == cli.WRONG_USAGE
    return capsys.readouterr().err


@pytest.mark.parametrize("output", ["file", "file/below", "dangling"])
def test_an_output_that_is_no_folder(root: Path, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "file").write_text("kept", encoding="utf-8")
    (root / "dangling").symlink_to(root / "nowhere")
    assert "--output must be a folder, or a new name for one; " in refusal(capsys, output=output)
    assert (root / "file").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("output", ["solutions", "exercises/new", "book", "autograder", ".", "grades/..", "/"])
def test_an_output_among_the_courses_own_files(root: Path, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--output must be a folder for results alone; " in refusal(capsys, output=output)
    (root / "link").symlink_to(root / "solutions")
    assert "lies in the course's own folder solutions" in refusal(capsys, output="link/new")


def test_a_gradebook_that_is_a_folder(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "gradebook.db").mkdir()
    assert "gradebook.db must be a file, and is none" in refusal(capsys, "--gradebook")


def test_a_gradebook_that_is_no_database(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "gradebook.db").write_bytes(b"no database " * 1000)
    assert "cannot be written: file is not a database" in refusal(capsys, "--gradebook")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write everything")
def test_what_one_may_not_write(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "locked").mkdir(mode=0o500)
    assert "you may not write into" in refusal(capsys, output="locked")
    (root / "gradebook.db").touch(mode=0o000)
    assert "cannot be written: you may not" in refusal(capsys, "--gradebook")

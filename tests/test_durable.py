"""Whatever ends a run, what it wrote is whole, and the next run finishes the rest: nobody is lost, nobody doubled."""

from __future__ import annotations

import functools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sample_class
from course_copies import copy_course
from test_class_run import contents

from autograder.course import Course, CourseError
from autograder.grading import class_run
from autograder.grading.class_run import RunFailed, Settings, alone_in, grade_class
from autograder.grading.finding import Found, find
from autograder.grading.submission import Grader
from autograder.grading.writing import read_results
from autograder.results import SubmissionResult
from autograder.sandbox import namespaces

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
Notebook = Callable[..., bytes]
STUDENTS = 12
NAME = "multi_head_attention"
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts are Linux's")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, notebook_with: Notebook) -> Path:
    made = tmp_path_factory.mktemp("class")
    wrong = "def split_heads(x, h):\n    return x\n# {}\n"
    for number in range(STUDENTS):
        (made / f"s{number:02}.ipynb").write_bytes(notebook_with({"split_heads": wrong.format(number)}))
    (made / "s03.ipynb").write_bytes(b"<html>Log in</html>")
    return made


@pytest.fixture(scope="module")
def results(folder: Path, grader: Grader) -> dict[str, SubmissionResult]:
    """What each submission gets, graded once: these tests are about what becomes of it."""
    return {one.student: class_run.grade_found(grader, one) for one in find([folder], NAME)}


@pytest.fixture
def run(course: Course, folder: Path, results: dict[str, SubmissionResult], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Grades the class into a folder, as `grade` does, from results that are known."""

    @contextmanager
    def known(*_: object, **__: object) -> Iterator[None]:
        yield None

    def found(_: object, one: Found, _before: object) -> SubmissionResult:
        return replace(results[one.student], flags=(*results[one.student].flags, *one.flags))

    monkeypatch.setattr(class_run.Grader, "open", known)
    monkeypatch.setattr(class_run, "grade_found", found)

    def grade(output: Path, resume: bool = False) -> list[tuple[str, bool]]:
        told: list[tuple[str, bool]] = []
        settings = Settings(course.root, NAME, output, 11, 1, False)
        grade_class(find([folder], NAME), settings, lambda one, before: told.append((one.student, before)), resume)
        return told

    return grade


def forked(action: Callable[[], object]) -> int:
    """Does it in a process of its own; returns its number."""
    process = os.fork()
    if process == 0:
        try:
            action()
        finally:
            os._exit(0)
    return process


def kill_and_resume(run: Any, tmp_path: Path, kills: int, seed: int) -> tuple[int, int]:
    """Kills runs at random moments. Returns how many were killed, and how many of them had written a part."""
    whole = tmp_path / "whole"
    started = time.monotonic()
    run(whole)
    seconds = time.monotonic() - started
    expected = contents(whole)
    draw = random.Random(seed)
    killed = partly = 0
    output = tmp_path / "0"
    for turn in range(kills):
        process = forked(functools.partial(run, output, True))
        if turn % 2:  # at any moment
            time.sleep(draw.uniform(0, 1.1 * seconds))
        else:  # as soon as a part is written, however fast this machine is
            wanted, until = draw.randrange(1, STUDENTS - 1), time.monotonic() + 10
            while len(list((output / "students").glob("*.json"))) < wanted and time.monotonic() < until:
                time.sleep(0.001)
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        killed += os.WIFSIGNALED(status)
        done = list((output / "students").glob("*.json")) if output.exists() else []
        for path in done:
            json.loads(path.read_text(encoding="utf-8"))
        assert len({one.student for one in read_results(output)}) == len(done)
        partly += 0 < len(done) < STUDENTS
        if len(done) == STUDENTS or draw.random() < 0.2:
            told = run(output, True)
            assert sorted(student for student, _ in told) == [f"s{number:02}" for number in range(STUDENTS)]
            assert sum(before for _, before in told) >= len(done)
            assert contents(output) == expected
            output = tmp_path / str(turn + 1)
    return killed, partly


def test_killed_at_any_moment_and_resumed_nothing_is_lost_or_doubled(run: Any, tmp_path: Path) -> None:
    killed, partly = kill_and_resume(run, tmp_path, 25, 3)
    assert killed and partly


@pytest.mark.long
def test_killed_two_hundred_times(run: Any, tmp_path: Path) -> None:
    killed, partly = kill_and_resume(run, tmp_path, 400, 4)
    print(f"{killed} killed, {partly} of them in the middle")
    assert killed >= 200 and partly >= 50


def kill_the_grader_and_resume(course: Course, name: str, folder: Path, tmp_path: Path, kills: int) -> int:
    """Kills the whole command, with its workers and sandboxes, at random moments. Returns how often in the middle."""
    command = [sys.executable, "-m", "autograder", "grade", str(folder), "--assignment", name, "--seed", "11"]
    whole, output = tmp_path / "whole", tmp_path / "0"
    quiet = {"cwd": course.root, "check": False, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = time.monotonic()
    subprocess.run([*command, "--jobs", "2", "--output", str(whole)], **quiet)
    seconds = time.monotonic() - started
    expected = contents(whole)
    draw = random.Random(5)
    partly = 0
    for turn in range(kills):
        process = subprocess.Popen(
            [*command, "--jobs", "2", "--resume", "--output", str(output)],
            cwd=course.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(draw.uniform(0.2, 1) * seconds)
        process.kill()
        process.wait()
        done = len(list((output / "students").glob("*.json"))) if output.exists() else 0
        partly += 0 < done < len(list(folder.iterdir()))
        if done == len(list(folder.iterdir())) or draw.random() < 0.3:
            # Workers of the run that was killed may go on for a moment: they hold the folder.
            while (
                subprocess.run([*command, "--jobs", "1", "--resume", "--output", str(output)], **quiet).returncode == 2
            ):
                time.sleep(0.2)
            assert contents(output) == expected
            output = tmp_path / str(turn + 1)
    return partly


@pytest.mark.long
def test_the_whole_grader_killed_at_random_moments(tmp_path: Path) -> None:
    course = copy_course(tmp_path / "course")
    folder = sample_class.many(course.source("smoothing"), tmp_path / "class", 60)
    kills = int(os.environ.get("KILLS", "200"))
    partly = kill_the_grader_and_resume(course, "smoothing", folder, tmp_path, kills)
    print(f"{kills} killed, {partly} of them in the middle")
    assert partly >= kills / 10


def test_what_a_killed_run_had_begun_to_write_is_gone_after_the_next(run: Any, tmp_path: Path) -> None:
    run(tmp_path)
    expected = contents(tmp_path)
    for left in (tmp_path / ".writing-1-grades.csv", tmp_path / "students" / ".writing-abc"):
        left.write_text("half", encoding="utf-8")
    run(tmp_path, True)
    assert contents(tmp_path) == expected


def test_two_runs_into_one_folder_are_kept_apart_in_a_sentence(run: Any, tmp_path: Path) -> None:
    ready, tell = os.pipe()

    def hold() -> None:
        with alone_in(tmp_path):
            os.write(tell, b".")
            time.sleep(60)

    process = forked(hold)
    os.read(ready, 1)
    try:
        with pytest.raises(RunFailed, match="Another run"):
            run(tmp_path)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    run(tmp_path)


def in_mount(output: Path, options: str, action: Callable[[], object]) -> str:
    """What `action` raises in a process that has a file system of its own mounted on `output`; "" for nothing."""
    ours, theirs = os.pipe()

    def act() -> None:
        try:
            uid, gid = os.getuid(), os.getgid()
            namespaces.unshare(namespaces.NEWNS | (namespaces.NEWUSER if uid else 0))
            if uid:
                namespaces.map_to_self(uid, gid)
            namespaces.mount(None, "/", None, 1 << 14 | 1 << 18)
            namespaces.mount(
                "tmpfs", str(output), "tmpfs", 1 if options == "ro" else 0, None if options == "ro" else options
            )
        except OSError as problem:
            os.write(theirs, f"skip: {problem}".encode())
            return
        try:
            action()
        except BaseException as problem:
            os.write(theirs, f"{type(problem).__name__}: {problem}".encode())

    process = forked(act)
    os.waitpid(process, 0)
    os.close(theirs)
    said = os.read(ours, 1 << 16).decode()
    if said.startswith("skip: "):
        pytest.skip(said)
    return said


@LINUX
@pytest.mark.parametrize("size", ["4k", "40k", "120k", "300k"])
def test_a_full_disk_is_a_sentence_and_what_is_written_is_whole(run: Any, tmp_path: Path, size: str) -> None:
    def act() -> None:
        try:
            run(tmp_path)
        finally:
            for path in (tmp_path / "students").glob("*.json"):
                json.loads(path.read_text(encoding="utf-8"))
            assert not list(tmp_path.rglob(".writing-*"))

    said = in_mount(tmp_path, f"size={size}", act)
    assert said.startswith("RunFailed: ") and "No space left" in said, said


@LINUX
def test_a_full_disk_that_was_emptied_is_resumed(run: Any, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    run(plain)
    full = tmp_path / "full"
    full.mkdir()
    expected = {name: len(data) for name, data in contents(plain).items()}

    def act() -> None:
        (full / "filler").write_bytes(b"x" * (2600 << 10))
        with pytest.raises(RunFailed):
            run(full)
        (full / "filler").unlink()
        told = run(full, True)
        assert any(before for _, before in told), told
        assert {name: len(data) for name, data in contents(full).items()} == expected
        raise SystemExit("went through")

    assert in_mount(full, "size=3m", act) == "SystemExit: went through"


@LINUX
def test_a_folder_that_is_read_only_is_a_sentence(run: Any, tmp_path: Path) -> None:
    said = in_mount(tmp_path, "ro", lambda: run(tmp_path))
    assert said.startswith("RunFailed: ") and "Read-only file system" in said, said


def test_a_locked_gradebook_is_a_sentence_and_the_results_stay(
    tmp_path: Path, results: dict[str, SubmissionResult]
) -> None:
    from autograder.gradebook import write_gradebook

    course = copy_course(tmp_path)
    source = course.source()
    with Grader.open(source, seed=1) as grader:
        result = grader.grade_bytes("s", json.dumps(_solved(source)).encode())
    assert write_gradebook(course, [result]) == 1
    book = sqlite3.connect(course.root / "gradebook.db")
    book.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(CourseError, match=r"gradebook.*cannot be written|locked"):
            write_gradebook(course, [result])
    finally:
        book.rollback()
        book.close()
    assert write_gradebook(course, [result]) == 1


def _solved(source: Any) -> Any:
    from autograder import solved

    return solved.solved_notebook(source)

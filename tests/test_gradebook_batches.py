"""The gradebook is written in batches: whole ones, beside others who write it, whatever comes between."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from course_copies import copy_course, gradebook

from autograder.course import Course, CourseError
from autograder.gradebook import saving, write_gradebook
from autograder.results import ExerciseResult, SubmissionResult

NAME = "smoothing"
HERE = Path(__file__).parent
LONGEST_WAIT = 3.0  # seconds; nbgrader itself gives up after 5

WRITER = """
import sys
sys.path.insert(0, {tests!r})
from test_gradebook_batches import Course, class_of, write_gradebook
from pathlib import Path
write_gradebook(Course(Path(sys.argv[1])), class_of(sys.argv[2], int(sys.argv[3])))
"""


def result(student: str, points: float = 4.0) -> SubmissionResult:
    exercises = (
        ExerciseResult("moving_average", points, 6.0),
        ExerciseResult("Standardize", 0.0, 4.0, attempted=False),
    )
    return SubmissionResult(student, NAME, "graded", 10.0, points, exercises=exercises)


def class_of(name: str, size: int) -> Iterator[SubmissionResult]:
    for number in range(size):
        if number % 10 == 7:
            yield SubmissionResult(f"{name}{number:04}", NAME, "ungradable", 10.0, reason="It is empty.")
        else:
            yield result(f"{name}{number:04}", number % 7)


def assert_written(course: Course, name: str, size: int) -> None:
    grades = gradebook(course.root, NAME)
    for one in class_of(name, size):
        found = grades[one.student]
        if one.status == "graded":
            assert found.scores == {exercise.name: exercise.score for exercise in one.exercises}
            assert found.comments == {"moving_average": None, "Standardize": "No response."}
            assert not found.needs_manual_grade
        else:
            assert found.scores == {"moving_average": None, "Standardize": None}
            assert found.comments == {"moving_average": "It is empty.", "Standardize": None}
            assert found.needs_manual_grade


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course whose gradebook knows its exercises and one student, graded by hand."""
    course = copy_course(tmp_path_factory.mktemp("made"))
    assert write_gradebook(course, [result("by-hand")]) == 1
    grade_by_hand(course, "by-hand", 5.5)
    return course


@pytest.fixture
def course(made: Course, tmp_path: Path) -> Course:
    copy = copy_course(tmp_path)
    (tmp_path / "gradebook.db").write_bytes((made.root / "gradebook.db").read_bytes())
    return copy


def grade_by_hand(course: Course, student: str, points: float) -> None:
    """What the formgrader does when somebody enters points."""
    from nbgrader.api import Gradebook

    with Gradebook(saving.gradebook_url(course)) as book:
        grade = book.find_grade("check-moving_average", NAME, NAME, student)
        grade.manual_score = points
        grade.needs_manual_grade = False
        book.db.commit()


def writer(course: Course, name: str, size: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER.format(tests=str(HERE)), str(course.root), name, str(size)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def students(course: Course) -> int:
    with sqlite3.connect(course.root / "gradebook.db", timeout=10) as connection:
        (number,) = connection.execute("SELECT count(*) FROM submitted_assignment").fetchone()
    connection.close()
    return int(number)


def test_a_class_of_several_batches_is_written_whole_and_again(course: Course) -> None:
    size = 2 * saving.BATCH + 7
    for _again in range(2):
        assert write_gradebook(course, class_of("s", size)) == size
        assert_written(course, "s", size)
        assert students(course) == size + 1
    assert gradebook(course.root, NAME)["by-hand"].manual["moving_average"] == 5.5


def test_what_is_added_is_what_nbgrader_adds(course: Course) -> None:
    from nbgrader.api import Gradebook

    write_gradebook(course, [result("ours")])
    with Gradebook(saving.gradebook_url(course)) as book:
        book.update_or_create_student("theirs")
        book.update_or_create_submission(NAME, "theirs")
        ours, theirs = (book.find_submission(NAME, student) for student in ("ours", "theirs"))
        assert [notebook.name for notebook in ours.notebooks] == [notebook.name for notebook in theirs.notebooks]
        for one, other in zip(ours.notebooks, theirs.notebooks, strict=True):
            assert {grade.name for grade in one.grades} == {grade.name for grade in other.grades}
            assert {comment.name for comment in one.comments} == {comment.name for comment in other.comments}
            assert (one.flagged, one.late_submission_penalty) == (other.flagged, other.late_submission_penalty)
        assert book.average_assignment_score(NAME) > 0


def test_a_grade_that_an_older_release_lacks_is_added(course: Course) -> None:
    write_gradebook(course, [result("s")])
    with sqlite3.connect(course.root / "gradebook.db") as connection:
        connection.execute("DELETE FROM grade")
        connection.execute("DELETE FROM comment")
    connection.close()
    write_gradebook(course, [result("s", 3)])
    assert gradebook(course.root, NAME)["s"].scores == {"moving_average": 3, "Standardize": 0}


def test_two_writers_and_somebody_who_grades_by_hand_do_not_hinder_each_other(course: Course) -> None:
    write_gradebook(course, class_of("both", 20))
    writers = [writer(course, name, 1000) for name in ("a", "b")]
    waits = []
    while any(one.poll() is None for one in writers):
        started = time.monotonic()
        grade_by_hand(course, f"both{len(waits) % 5:04}", 1 + len(waits) % 5)
        waits.append(time.monotonic() - started)
        time.sleep(0.05)
    said = [one.stderr.read().decode() for one in writers if one.stderr is not None]
    assert [one.returncode for one in writers] == [0, 0], said
    assert max(waits) < LONGEST_WAIT and len(waits) > 5
    assert_written(course, "a", 1000)
    assert_written(course, "b", 1000)
    assert {gradebook(course.root, NAME)[f"both{number:04}"].manual["moving_average"] for number in range(5)} == set(
        range(1, 6)
    )


def test_two_writers_make_the_gradebook_together(tmp_path: Path) -> None:
    course = copy_course(tmp_path)
    writers = [writer(course, name, 60) for name in ("a", "b")]
    for one in writers:
        _out, error = one.communicate(timeout=120)
        assert one.returncode == 0, error.decode()
    assert_written(course, "a", 60)
    assert_written(course, "b", 60)


def test_a_writer_that_is_killed_leaves_whole_batches_and_the_next_run_completes_them(course: Course) -> None:
    process = writer(course, "k", 20_000)
    while students(course) < 4 * saving.BATCH:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = students(course) - 1
    assert 0 < done < 20_000 and done % saving.BATCH == 0
    assert_written(course, "k", done)
    assert write_gradebook(course, class_of("k", done + 30)) == done + 30
    assert_written(course, "k", done + 30)
    assert gradebook(course.root, NAME)["by-hand"].manual["moving_average"] == 5.5


def test_a_lock_met_midway_is_a_sentence_and_loses_nothing(course: Course, monkeypatch: Any) -> None:
    monkeypatch.setattr(saving, "SECONDS_TO_WAIT", 0.3)
    other = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)

    def interrupted() -> Iterator[SubmissionResult]:
        for number, one in enumerate(class_of("s", 3 * saving.BATCH)):
            if number == 2 * saving.BATCH:
                other.execute("BEGIN EXCLUSIVE")
            yield one

    with pytest.raises(CourseError) as refused:
        write_gradebook(course, interrupted())
    other.rollback()
    other.close()
    said = str(refused.value)
    assert f"The grades of {2 * saving.BATCH} students stand in it" in said
    assert "database is locked" in said and "--resume --gradebook" in said
    assert students(course) == 2 * saving.BATCH + 1
    assert write_gradebook(course, class_of("s", 3 * saving.BATCH)) == 3 * saving.BATCH
    assert_written(course, "s", 3 * saving.BATCH)

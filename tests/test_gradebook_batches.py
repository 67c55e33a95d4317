"""The gradebook is written in batches: whole ones, beside others who write it, whatever comes between."""

from __future__ import annotations

import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from course_copies import copy_course

from autograder.course import Course, CourseError
from autograder.gradebook import saving, write_gradebook
from autograder.results import ExerciseResult, SubmissionResult

NAME = "smoothing"
HERE = Path(__file__).parent
LONGEST_WAIT = 5.0  # seconds; then nbgrader gives up

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


Row = tuple[Any, ...]


def grades(course: Course) -> dict[tuple[str, str], Row]:
    """(automatic score, score by hand, whether somebody must look) by student and exercise, read without nbgrader."""
    return table(course, "grade", "auto_score, manual_score, needs_manual_grade")


def comments(course: Course) -> dict[tuple[str, str], Row]:
    return table(course, "comment", "auto_comment, manual_comment")


def table(course: Course, name: str, columns: str) -> dict[tuple[str, str], Row]:
    with closing(sqlite3.connect(course.root / "gradebook.db", timeout=10)) as connection:
        rows = connection.execute(
            f"""SELECT student_id, base_cell.name, {columns} FROM {name}
            JOIN base_cell ON base_cell.id = cell_id
            JOIN submitted_notebook ON submitted_notebook.id = {name}.notebook_id
            JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id"""
        ).fetchall()
    found = {(row[0], row[1].removeprefix("check-")): tuple(row[2:]) for row in rows}
    assert len(found) == len(rows)
    return found


def assert_written(course: Course, name: str, size: int) -> None:
    points, words = grades(course), comments(course)
    for one in class_of(name, size):
        smoothed, standardized = ((one.student, exercise) for exercise in ("moving_average", "Standardize"))
        if one.status == "graded":
            assert (points[smoothed], points[standardized]) == ((one.score, None, 0), (0, None, 0))
            assert (words[smoothed], words[standardized]) == ((None, None), ("No response.", None))
        else:
            assert points[smoothed] == points[standardized] == (None, None, 1)
            assert (words[smoothed], words[standardized]) == (("It is empty.", None), (None, None))


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


def test_a_name_that_is_no_utf8_is_written_as_the_tables_have_it(course: Course) -> None:
    broken = SubmissionResult("no\udcfe", NAME, "ungradable", 10.0, reason="The file no\udcfe.ipynb is empty.")
    assert write_gradebook(course, [result("bad\udcff"), broken]) == 2
    assert grades(course)[r"bad\udcff", "moving_average"] == (4.0, None, 0)
    assert comments(course)[r"no\udcfe", "moving_average"] == (r"The file no\udcfe.ipynb is empty.", None)


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
    with closing(sqlite3.connect(course.root / "gradebook.db", timeout=10)) as connection:
        (number,) = connection.execute("SELECT count(*) FROM submitted_assignment").fetchone()
    return int(number)


def test_a_class_of_several_batches_is_written_whole_and_again(course: Course) -> None:
    size = 2 * saving.BATCH + 7
    for _again in range(2):
        assert write_gradebook(course, class_of("s", size)) == size
        assert_written(course, "s", size)
        assert students(course) == size + 1
    assert grades(course)["by-hand", "moving_average"][1] == 5.5


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own way to add
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
    with closing(sqlite3.connect(course.root / "gradebook.db")) as connection, connection:
        connection.execute("DELETE FROM grade")
        connection.execute("DELETE FROM comment")
    write_gradebook(course, [result("s", 3)])
    assert grades(course)["s", "moving_average"] == (3, None, 0)
    assert comments(course)["s", "Standardize"] == ("No response.", None)


@pytest.mark.long
def test_two_writers_make_the_gradebook_together_and_let_somebody_grade_by_hand(tmp_path: Path) -> None:
    course = copy_course(tmp_path)
    writers = [writer(course, name, 300) for name in ("a", "b")]
    waits: dict[str, float] = {}
    while any(one.poll() is None for one in writers):
        time.sleep(0.02)
        student = f"a{10 * len(waits):04}"
        if not (tmp_path / "gradebook.db").exists() or student not in known_students(course):
            continue
        started = time.monotonic()
        grade_by_hand(course, student, 5.5)
        waits[student] = time.monotonic() - started
    said = [one.stderr.read().decode() for one in writers if one.stderr is not None]
    assert [one.returncode for one in writers] == [0, 0], said
    assert waits and max(waits.values()) < LONGEST_WAIT and statistics.median(waits.values()) < LONGEST_WAIT / 5
    points = grades(course)
    assert all(points[student, "moving_average"][1] == 5.5 for student in waits)
    assert len(points) == 2 * 2 * 300
    assert_written(course, "b", 300)


def known_students(course: Course) -> set[str]:
    try:
        return {student for student, _exercise in grades(course)}
    except sqlite3.OperationalError:  # it has no tables yet
        return set()


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
    assert grades(course)["by-hand", "moving_average"][1] == 5.5


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

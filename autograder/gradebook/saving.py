"""Our grades in nbgrader's gradebook. Manual scores and comments are never touched."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.course import Assignment, Course, CourseError
from autograder.release import stub_notebook
from autograder.results import SubmissionResult

SECONDS_TO_WAIT = 10.0  # for another program that writes the gradebook
NO_RESPONSE = "No response."  # nbgrader's own words for an untouched answer


def gradebook_url(course: Course) -> str:
    """Where nbgrader keeps the course's gradebook unless told otherwise."""
    return f"sqlite:///{course.root.resolve() / 'gradebook.db'}"


def write_gradebook(course: Course, results: Iterable[SubmissionResult], db_url: str = "") -> int:
    """Write results into the gradebook, which is made where there is none. Returns how many were written.

    Raises `CourseError`, for instance where the gradebook holds submissions to other exercises than the course has.
    """
    try:
        from nbgrader.api import Gradebook
    except ImportError as problem:
        raise CourseError(
            f"--gradebook needs nbgrader, which is not here ({problem}). Install autograder[instructor]."
        ) from None
    from sqlalchemy.exc import SQLAlchemyError

    from autograder.gradebook.configuring import put_environment_first

    put_environment_first()
    url = db_url or gradebook_url(course)
    _refuse_locked(url)
    known: dict[str, Assignment] = {}
    written = 0
    try:
        for result in results:
            if result.assignment not in known:
                source = course.source(result.assignment)
                stub_notebook(source, url)  # the gradebook learns the exercises and their points
                known[result.assignment] = source.assignment
            with Gradebook(url) as gradebook:
                gradebook.update_or_create_student(result.student)
                gradebook.update_or_create_submission(result.assignment, result.student)
                save_result(gradebook, result, known[result.assignment])
            written += 1
    except SQLAlchemyError as problem:
        raise CourseError(
            f"The gradebook {url} cannot be written: {str(problem).splitlines()[0]}. "
            "If nbgrader was upgraded, back the file up and run `nbgrader db upgrade`."
        ) from problem
    return written


def _refuse_locked(url: str) -> None:
    """Raises `CourseError` where the gradebook is a file that cannot be written now. nbgrader's own words mislead."""
    path = Path(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or not path.exists():
        return
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=SECONDS_TO_WAIT)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as problem:
        raise CourseError(
            f"The gradebook {path} cannot be written: {problem}. The grades themselves are written. Close what uses "
            "it, such as the formgrader, and run again with --resume --gradebook: nobody is graded twice."
        ) from None


def save_result(gradebook: Any, result: SubmissionResult, assignment: Assignment) -> None:
    """Set the automatic scores of a submission that the gradebook knows. What has no score needs manual grading."""
    name = assignment.name
    notebook = gradebook.find_submission_notebook(name, name, result.student)
    scores = {f"check-{exercise.name}": exercise.score for exercise in result.exercises}
    ours = {f"check-{exercise}" for exercise in assignment.by_name}
    for grade in notebook.grades:
        if grade.name in ours:
            grade.auto_score = scores.get(grade.name)
            # As nbgrader has it: a score given by hand before is looked at again.
            grade.needs_manual_grade = grade.auto_score is None or grade.manual_score is not None
    untouched = {exercise.name for exercise in result.exercises if not exercise.attempted}
    first = next(iter(assignment.by_name))
    for comment in notebook.comments:
        if comment.name in untouched:
            comment.auto_comment = NO_RESPONSE
        elif comment.name in assignment.by_name:
            comment.auto_comment = result.reason if comment.name == first and result.status != "graded" else None
    gradebook.db.commit()

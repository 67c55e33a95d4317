"""Our grades in nbgrader's gradebook. Manual scores and comments are never touched.

The gradebook is a file that others write too: a formgrader, `nbgrader autograde`, a second run of ours. So a batch is
read before the file is locked, written in one short transaction, and committed; what is committed stays, whatever
happens to the next.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.course import Assignment, Course, CourseError
from autograder.exporting import readable
from autograder.release import stub_notebook
from autograder.results import SubmissionResult

SECONDS_TO_WAIT = 10.0  # for another program that writes the gradebook
BATCH = 50  # students to a transaction: it locks the others out for some hundredths of a second
NO_RESPONSE = "No response."  # nbgrader's own words for an untouched answer


def gradebook_url(course: Course) -> str:
    """Where nbgrader keeps the course's gradebook unless told otherwise."""
    return f"sqlite:///{course.root.resolve() / 'gradebook.db'}"


def write_gradebook(course: Course, results: Iterable[SubmissionResult], db_url: str = "") -> int:
    """Write results into the gradebook, which is made where there is none. Returns how many were written.

    Raises `CourseError`, for instance where the gradebook holds submissions to other exercises than the course has.
    Then whole batches are written, and writing all again completes them.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from autograder.gradebook.configuring import put_environment_first

    put_environment_first()
    url = db_url or gradebook_url(course)
    try:
        check_gradebook(course, url)
    except CourseError as problem:
        raise CourseError(
            f"{problem} The grades themselves are written. Then run again with --resume --gradebook: nobody is graded "
            "twice."
        ) from None
    known: dict[str, Assignment] = {}
    written = 0
    try:
        with contextlib.ExitStack() as stack:
            gradebook: Any = None
            for batch in _batches(results):
                name = batch[0].assignment
                if name not in known:
                    source = course.source(name)
                    with _alone_in(course.root):
                        stub_notebook(source, url)  # the gradebook learns the exercises and their points
                    known[name] = source.assignment
                gradebook = gradebook or stack.enter_context(_opened(url))
                save_results(gradebook, batch, known[name])
                written += len(batch)
    except SQLAlchemyError as problem:
        said = str(problem).splitlines()[0]
        advice = (
            f"{_already(written)} Close what uses it, such as the formgrader, and run again with --resume --gradebook: "
            "nobody is graded twice."
            if "locked" in said
            else "If nbgrader was upgraded, back the file up and run `nbgrader db upgrade`."
        )
        raise CourseError(f"The gradebook {url} cannot be written: {said}. {advice}") from problem
    return written


def _already(written: int) -> str:
    return f"The grades of {written} students stand in it, the others are written to their files alone."


def _batches(results: Iterable[SubmissionResult]) -> Iterator[list[SubmissionResult]]:
    """At most BATCH results of one assignment at a time, read when they are asked for."""
    for _name, group in itertools.groupby(results, lambda result: result.assignment):
        while batch := list(itertools.islice(group, BATCH)):
            yield batch


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Of our own runs, one at a time makes the gradebook: nbgrader makes its tables without asking whether they are."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        until = time.monotonic() + SECONDS_TO_WAIT
        while time.monotonic() < until:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:  # a network's file system without locks
                break
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _opened(url: str) -> Iterator[Any]:
    """nbgrader's gradebook. With SQLite a transaction waits for its turn at its beginning, never in the middle."""
    from nbgrader.api import Gradebook
    from sqlalchemy import event

    with Gradebook(url) as gradebook:
        engine = gradebook.engine
        if engine.dialect.name == "sqlite":

            def connected(connection: Any, _record: Any) -> None:
                connection.isolation_level = None  # the driver's own transactions would begin with a read
                connection.execute(f"PRAGMA busy_timeout = {SECONDS_TO_WAIT * 1000:.0f}")

            event.listen(engine, "connect", connected)
            event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
            engine.dispose()  # what connections there are were made without this
        yield gradebook


def check_gradebook(course: Course, db_url: str = "") -> None:
    """Raises `CourseError` where grades cannot be written into the gradebook now. nbgrader's own words mislead."""
    url = db_url or gradebook_url(course)
    if not url.startswith("sqlite:///"):
        return
    path = Path(url.removeprefix("sqlite:///"))
    if not path.exists():
        if not os.access(path.parent, os.W_OK):
            raise CourseError(f"The gradebook {path} cannot be made: you may not write into {path.parent}.")
        return
    if not path.is_file():
        raise CourseError(f"The gradebook {path} must be a file, and is none. Move it away: a new one is made.")
    if not os.access(path, os.R_OK | os.W_OK):
        raise CourseError(f"The gradebook {path} cannot be written: you may not. Change its permissions.")
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=SECONDS_TO_WAIT)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.OperationalError as problem:
        raise CourseError(
            f"The gradebook {path} cannot be written: {problem}. Close what uses it, such as the formgrader."
        ) from None
    except sqlite3.Error as problem:
        raise CourseError(f"The gradebook {path} cannot be written: {problem}. Put a copy of yours there.") from None


def save_result(gradebook: Any, result: SubmissionResult, assignment: Assignment) -> None:
    """Set the automatic scores of one submission. What has no score needs manual grading."""
    save_results(gradebook, [result], assignment)


def save_results(gradebook: Any, results: Sequence[SubmissionResult], assignment: Assignment) -> None:
    """The same for several students, in one transaction. Who and what the gradebook lacks is added to it."""
    session = gradebook.db
    try:
        _save(session, {readable(result.student): result for result in results}, assignment)
        session.commit()
    except BaseException:
        session.rollback()
        raise


def _save(session: Any, results: dict[str, SubmissionResult], assignment: Assignment) -> None:
    from nbgrader import api
    from sqlalchemy import select

    students, submissions = api.Student.__table__, api.SubmittedAssignment.__table__
    there = set(session.scalars(select(students.c.id).where(students.c.id.in_(results))))
    _insert(session, students, [{"id": student} for student in results if student not in there])
    known = session.scalars(select(api.Assignment.id).where(api.Assignment.name == assignment.name)).one()
    of_these = (submissions.c.assignment_id == known) & submissions.c.student_id.in_(results)
    handed_in = set(session.scalars(select(submissions.c.student_id).where(of_these)))
    _insert(
        session,
        submissions,
        [{"assignment_id": known, "student_id": student} for student in results if student not in handed_in],
    )
    _complete(session, known, of_these)
    _set_scores(session, results, assignment, of_these)
    _set_comments(session, results, assignment, of_these)


def _cells_of(table: Any, assignment: Assignment) -> Any:
    """The grades or comments of the assignment's notebook, beside their cells and the students' submissions."""
    from nbgrader import api

    submissions, cells = api.SubmittedAssignment.__table__, api.BaseCell.__table__
    notebooks, masters = api.SubmittedNotebook.__table__, api.Notebook.__table__
    named = (masters.c.id == notebooks.c.notebook_id) & (masters.c.name == assignment.name)
    rows = submissions.join(notebooks, notebooks.c.assignment_id == submissions.c.id).join(masters, named)
    return rows.join(table, table.c.notebook_id == notebooks.c.id).join(cells, cells.c.id == table.c.cell_id)


def _set_scores(session: Any, results: dict[str, SubmissionResult], assignment: Assignment, of_these: Any) -> None:
    from nbgrader import api
    from sqlalchemy import bindparam, select

    grades, cells, submissions = api.Grade.__table__, api.BaseCell.__table__, api.SubmittedAssignment.__table__
    ours = {f"check-{exercise}" for exercise in assignment.by_name}
    scores = {
        student: {f"check-{exercise.name}": exercise.score for exercise in result.exercises}
        for student, result in results.items()
    }
    found = session.execute(
        select(grades.c.id, grades.c.manual_score, cells.c.name, submissions.c.student_id)
        .select_from(_cells_of(grades, assignment))
        .where(of_these)
    )
    changes = []
    for place, manual, name, student in found:
        if name in ours:
            score = scores[student].get(name)
            # As nbgrader has it: a score given by hand before is looked at again.
            changes.append({"place": place, "score": score, "needs": score is None or manual is not None})
    change = grades.update().where(grades.c.id == bindparam("place"))
    if changes:
        session.execute(change.values(auto_score=bindparam("score"), needs_manual_grade=bindparam("needs")), changes)


def _set_comments(session: Any, results: dict[str, SubmissionResult], assignment: Assignment, of_these: Any) -> None:
    from nbgrader import api
    from sqlalchemy import bindparam, select

    comments, cells, submissions = api.Comment.__table__, api.BaseCell.__table__, api.SubmittedAssignment.__table__
    first = next(iter(assignment.by_name))
    found = session.execute(
        select(comments.c.id, cells.c.name, submissions.c.student_id)
        .select_from(_cells_of(comments, assignment))
        .where(of_these)
    )
    changes = [
        {"place": place, "words": _comment(results[student], name, first)}
        for place, name, student in found
        if name in assignment.by_name
    ]
    change = comments.update().where(comments.c.id == bindparam("place"))
    if changes:
        session.execute(change.values(auto_comment=bindparam("words")), changes)


def _comment(result: SubmissionResult, exercise: str, first: str) -> str | None:
    """What stands beside an exercise; the reason of what could not be graded beside the first."""
    if any(one.name == exercise and not one.attempted for one in result.exercises):
        return NO_RESPONSE
    return readable(result.reason or "") if exercise == first and result.status != "graded" else None


def _complete(session: Any, assignment: str, of_these: Any) -> None:
    """Every submission has its notebooks, and each a grade and a comment for every cell that takes one."""
    from nbgrader import api
    from sqlalchemy import select

    submissions, notebooks = api.SubmittedAssignment.__table__, api.SubmittedNotebook.__table__
    handed_in = list(session.scalars(select(submissions.c.id).where(of_these)))
    masters = list(session.scalars(select(api.Notebook.id).where(api.Notebook.assignment_id == assignment)))
    pairs = [{"assignment_id": one, "notebook_id": master} for one in handed_in for master in masters]
    of_them = notebooks.c.assignment_id.in_(handed_in)
    _insert_missing(session, notebooks, pairs, of_them)

    places: dict[str, list[str]] = {}
    for place, master in session.execute(select(notebooks.c.id, notebooks.c.notebook_id).where(of_them)):
        places.setdefault(master, []).append(place)
    for table, kinds in (
        (api.Grade.__table__, (api.GradeCell, api.TaskCell)),
        (api.Comment.__table__, (api.SolutionCell, api.TaskCell)),
    ):
        pairs = [
            {"cell_id": cell, "notebook_id": place}
            for kind in kinds
            for cell, master in session.execute(select(kind.id, kind.notebook_id).where(kind.notebook_id.in_(masters)))
            for place in places.get(master, [])
        ]
        _insert_missing(session, table, pairs, table.c.notebook_id.in_([one for own in places.values() for one in own]))


def _insert_missing(session: Any, table: Any, pairs: Sequence[dict[str, str]], among: Any) -> None:
    """Insert those pairs of ids that the table does not hold; all that it may hold are `among` these."""
    from sqlalchemy import select

    if pairs:
        columns = [table.c[name] for name in pairs[0]]
        there = {tuple(row) for row in session.execute(select(*columns).where(among))}
        _insert(session, table, [pair for pair in pairs if tuple(pair.values()) not in there])


def _insert(session: Any, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        session.execute(table.insert(), rows)

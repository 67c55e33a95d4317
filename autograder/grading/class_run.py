"""A class: submissions go through workers, each with its own pytest session and sandbox; results go to a folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import random
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.checking import CheckBroken
from autograder.course import Assignment, Course, CourseError
from autograder.exporting import ExportError
from autograder.grading.basis import bases, moves, stale_exercises
from autograder.grading.cluster import in_cluster
from autograder.grading.finding import Found
from autograder.grading.likeness import flag_equal
from autograder.grading.submission import Grader, grading_session
from autograder.grading.writing import clear_leftovers, file_name, read_result, write_csv, write_result, write_whole
from autograder.interrupting import handle_interrupts, interrupts_held, let_interrupts_through, when_stopped
from autograder.notebooks import Cell, Unreadable, read, read_file
from autograder.results import SubmissionResult
from autograder.sandbox import SandboxError

RUN = "run.json"
LARGEST_SEED = 2**31
MOST_RESTARTS = 3  # workers lost in a row before the run gives up
MOST_TRIES = 2  # workers lost over one submission before it is taken for the cause


@dataclass(frozen=True)
class Settings:
    """What a run was asked to do."""

    root: Path
    assignment: str
    output: Path
    seed: int
    jobs: int
    unsandboxed: bool
    scheduler: str = ""  # address of a Dask cluster's; "" for this machine


class RunFailed(Exception):
    """The run cannot go on. The message is a sentence for the instructor."""


def draw_seed() -> int:
    """A seed nobody can guess."""
    return random.SystemRandom().randrange(LARGEST_SEED)


def read_seed(output: Path) -> int | None:
    """The seed of the run that wrote into this folder, None where there was none."""
    try:
        seed = json.loads((output / RUN).read_text(encoding="utf-8"))["seed"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return seed if isinstance(seed, int) else None


def grade_found(grader: Grader, found: Found, before: SubmissionResult | None = None) -> SubmissionResult:
    """Grade one; never raises. What goes wrong on our side ends as `error`. before: what an earlier run said of it."""
    if before is not None:
        before = replace(before, flags=tuple(flag for flag in before.flags if flag not in found.flags))
    try:
        result = grader.grade_bytes(found.student, found.read(), before)
        if before is not None:
            result = replace(result, moved=tuple(moves(before, result, grader.bases, grader.assignment)))
    except Unreadable as problem:
        result = grader.ungradable(found.student, str(problem))
    except CheckBroken as problem:  # this answer alone makes it raise: the others are graded
        result = replace(grader.ungradable(found.student, str(problem)), status="error")
    except CourseError:
        raise
    except Exception as problem:
        last = traceback.extract_tb(problem.__traceback__)[-1]
        result = replace(
            grader.ungradable(
                found.student, f"The autograder failed: {type(problem).__name__}: {problem} ({last.name})."
            ),
            status="error",
        )
    return replace(result, flags=(*result.flags, *found.flags)) if found.flags else result


def result_path(student: str, settings: Settings) -> Path:
    """Where this run writes a student's result."""
    return settings.output / "students" / f"{file_name(student)}.json"


def earlier_result(found: Found) -> SubmissionResult | None:
    """What an earlier run said of this student."""
    return read_result(found.before) if found.before is not None else None


def _done_before(
    found: Found, settings: Settings, now: Mapping[str, Mapping[str, str]], assignment: Assignment
) -> tuple[SubmissionResult | None, bool]:
    """What the folder holds of this student with this seed, and whether it all still stands."""
    result = read_result(result_path(found.student, settings))
    if (
        result is None
        or result.status == "error"
        or (result.seed, result.student, result.assignment) != (settings.seed, found.student, assignment.name)
    ):
        return None, False
    try:
        same = hashlib.sha256(found.read()).hexdigest() == result.sha256
    except Unreadable:
        same = not result.sha256
    earlier = {exercise.name: exercise for exercise in result.exercises}
    stands = result.max_score == assignment.max_score and (
        result.status != "graded"
        or (set(earlier) == set(assignment.by_name) and not stale_exercises(earlier, now, assignment))
    )
    return result, same and stands


def untouched_cells(course: Course, assignment: Assignment) -> Sequence[Cell]:
    """Code cells of the notebook as it was released; () where it was not."""
    path = course.released / assignment.name / f"{assignment.name}.ipynb"
    try:
        return read(read_file(path), assignment).cells
    except Unreadable:
        return ()


def results_of(found: Sequence[Found], settings: Settings) -> Iterator[SubmissionResult]:
    """The written results of these submissions, one at a time."""
    for one in found:
        result = read_result(result_path(one.student, settings))
        if result is not None:
            yield result


def grade_class(
    found: Sequence[Found], settings: Settings, tell: Callable[[SubmissionResult, bool], None], resume: bool = False
) -> None:
    """Grade every submission into `settings.output`; `tell` hears each result, and whether it was done before.

    What `tell` hears may lack its exercises, which are written then: nothing of a class is held in memory.

    Raises `RunFailed` and `CourseError`. What was graded before stays, and `grades.csv` is rebuilt in any case.
    """
    course = Course(settings.root)
    assignment = course.source(settings.assignment).assignment
    try:
        (settings.output / "students").mkdir(parents=True, exist_ok=True)
        with alone_in(settings.output):
            clear_leftovers(settings.output)
            with when_stopped(lambda: _note_stopped(settings)):
                _grade_into(found, settings, course, assignment, tell, resume)
    except ExportError as problem:
        raise RunFailed(str(problem)) from None
    except OSError as problem:
        raise RunFailed(
            f"A file in {settings.output} cannot be written: {problem.strerror or problem}. What is written so far is "
            "whole; mend that and run again with --resume."
        ) from None


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """No other run writes into this folder meanwhile, where the system has such locks. Raises `RunFailed`.

    The lock is one on the folder itself: it leaves no file, and ends with this process whatever ends that.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise RunFailed(f"Another run writes into {folder}. Wait for its end, or name another folder.") from None
    except OSError:  # a network's file system without locks
        pass
    try:
        yield
    finally:
        os.close(handle)


def _grade_into(
    found: Sequence[Found],
    settings: Settings,
    course: Course,
    assignment: Assignment,
    tell: Callable[[SubmissionResult, bool], None],
    resume: bool,
) -> None:
    waiting = []
    now = bases(course.source(assignment.name)) if resume else {}
    for one in flag_equal(found, assignment, untouched_cells(course, assignment)):
        before, stands = _done_before(one, settings, now, assignment) if resume else (None, False)
        if before is not None and stands:
            tell(before, True)
        else:
            waiting.append(replace(one, before=result_path(one.student, settings)) if before else one)
    try:
        for result in _graded(waiting, settings):
            tell(result, False)
    finally:
        write_csv(settings.output, assignment)


def _note_run(settings: Settings) -> None:
    """Write down what the folder's results belong to. Not before grading can begin: what cannot changes nothing."""
    text = json.dumps({"assignment": settings.assignment, "seed": settings.seed}, indent=1) + "\n"
    write_whole(settings.output / RUN, text)


def _note_stopped(settings: Settings) -> None:
    """A run that is stopped before its first result can be resumed too: with the seed that it was given."""
    if read_seed(settings.output) is None:
        _note_run(settings)


def others_in(found: Sequence[Found], settings: Settings) -> list[str]:
    """File names of results in the folder that belong to students of no submission of this run."""
    own = {file_name(one.student) for one in found}
    return sorted(path.stem for path in (settings.output / "students").glob("*.json") if path.stem not in own)


def _graded(found: Sequence[Found], settings: Settings) -> Iterator[SubmissionResult]:
    jobs = min(settings.jobs, len(found))
    if not found:
        _note_run(settings)
        return
    if settings.scheduler:
        for number, result in enumerate(in_cluster(found, settings, lost_over, RunFailed)):
            if not number:
                _note_run(settings)
            yield result
        return
    if jobs > 1:
        yield from _in_workers(found, settings, jobs)
        return
    source = Course(settings.root).source(settings.assignment)
    with Grader.open(source, seed=settings.seed, unsandboxed=settings.unsandboxed) as grader:
        _note_run(settings)
        for one in found:
            result = grade_found(grader, one, earlier_result(one))
            write_result(result, source.assignment, settings.output)
            yield result


# -- workers ----------------------------------------------------------------------------------------------------------


def _work(settings: Settings, shared: Path, pipe: Any) -> None:
    """A worker: takes one submission at a time from the pipe, writes its result, says it is done."""

    def loop(grader: Grader) -> None:
        pipe.send(("ready", None))
        while True:
            one = pipe.recv()
            if one is None:
                return
            result = grade_found(grader, one, earlier_result(one))
            write_result(result, grader.assignment, settings.output)
            pipe.send(("done", replace(result, exercises=())))  # they are written: the whole would cost its way here

    try:
        handle_interrupts()  # where the run began as `python -m autograder`, nobody has done so here
        let_interrupts_through()
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        source = Course(settings.root).source(settings.assignment)
        grading_session(source, seed=settings.seed, unsandboxed=settings.unsandboxed, body=loop, shared=shared)
    except (EOFError, ConnectionError):  # a reset, where something was on its way to who started us
        shutil.rmtree(shared, ignore_errors=True)  # who started us was killed, and cannot do it
    except KeyboardInterrupt:
        pass
    except BaseException as problem:
        if isinstance(problem, SandboxError):
            problem = RunFailed(str(problem))
        elif not isinstance(problem, (CourseError, OSError)):
            problem = RunFailed(f"{type(problem).__name__}: {problem}")
        with contextlib.suppress(OSError):  # another has said it: nobody listens any more
            pipe.send(("failed", problem))


@dataclass
class _Worker:
    process: Any
    pipe: Any
    task: Found | None = None


def _start(settings: Settings, shared: Path) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(settings, shared, theirs), daemon=True)
    with interrupts_held():
        process.start()
    theirs.close()
    return _Worker(process, ours)


def _in_workers(found: Sequence[Found], settings: Settings, jobs: int) -> Iterator[SubmissionResult]:
    with tempfile.TemporaryDirectory(prefix="autograder-shared-", ignore_cleanup_errors=True) as shared:
        yield from _by_workers(found, settings, jobs, Path(shared))


def _by_workers(found: Sequence[Found], settings: Settings, jobs: int, shared: Path) -> Iterator[SubmissionResult]:
    waiting = list(reversed(found))
    workers = [_start(settings, shared) for _ in range(jobs)]
    lost = 0
    tried: dict[str, int] = {}
    try:
        while workers:
            for connection in multiprocessing.connection.wait([worker.pipe for worker in workers]):
                worker = next(worker for worker in workers if worker.pipe is connection)
                try:
                    kind, value = worker.pipe.recv()
                except EOFError:
                    kind, value = "lost", None
                if kind == "failed":
                    raise value
                if kind == "ready":
                    _note_run(settings)
                if kind == "lost":
                    lost += 1
                    workers.remove(worker)
                    if worker.task is not None:
                        tried[worker.task.student] = tried.get(worker.task.student, 0) + 1
                        if tried[worker.task.student] < MOST_TRIES:
                            waiting.append(worker.task)
                        else:
                            yield lost_over(worker.task, settings)
                    if lost > MOST_RESTARTS:
                        raise RunFailed("The grading processes end again and again. Run `autograder doctor`.")
                    if waiting:
                        workers.append(_start(settings, shared))
                    continue
                if kind == "done":
                    lost = 0
                    yield value
                worker.task = waiting.pop() if waiting else None
                worker.pipe.send(worker.task)
                if worker.task is None:
                    worker.process.join()
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.pipe.close()
            worker.process.join(timeout=5)
            if worker.process.is_alive():
                worker.process.terminate()


def lost_over(found: Found, settings: Settings) -> SubmissionResult:
    """The written result of a submission over which workers were lost again and again."""
    assignment = Course(settings.root).source(settings.assignment).assignment
    result = SubmissionResult(
        student=found.student,
        assignment=assignment.name,
        status="error",
        reason="The processes that graded this submission ended, one after the other. Grade it alone, with --only.",
        max_score=assignment.max_score,
        flags=tuple(found.flags),
        seed=settings.seed,
    )
    write_result(result, assignment, settings.output)
    return result


def assignment_of(output: Path, course: Course) -> Assignment:
    """The assignment whose results a folder holds. Raises `CourseError`."""
    try:
        name = json.loads((output / RUN).read_text(encoding="utf-8"))["assignment"]
    except (OSError, ValueError, KeyError, TypeError):
        raise CourseError(
            f"{output} holds no results: it has no {RUN}. Name the folder given to `grade --output`."
        ) from None
    return course.source(name).assignment

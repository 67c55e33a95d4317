"""A class on a Dask cluster that is there already: batches go out, results come back and are written here.

A worker needs this package and nothing of the course: it is sent the assignment's folder once, and keeps a grader of
its own, with its own sandbox. Batches of workers that are lost go to others. A submission on which several workers in
a row were lost ends as `error`; it does not keep the others waiting.

Workers are on the trusted side: learners' code runs in their sandboxes alone, and what comes back from a cluster is
believed. Give workers one thread each (`--nthreads 1`): a grader does one submission at a time.
"""

from __future__ import annotations

import atexit
import hashlib
import socket
import tempfile
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import Course, Source
from autograder.grading.finding import Found
from autograder.grading.submission import Grader
from autograder.grading.writing import texts_of, write_texts
from autograder.notebooks import Unreadable
from autograder.results import SubmissionResult

if TYPE_CHECKING:
    from autograder.grading.class_run import Settings

BATCH = 16  # submissions that travel together: seconds of work, and little is done twice when a worker is lost
AHEAD = 2  # batches per worker that are on their way: none waits for us, and few notebooks are held in memory
CONNECT_SECONDS = 10  # for the scheduler to take a connection
WAIT_SECONDS = 120  # for the scheduler, and for its first worker


@dataclass(frozen=True)
class _Carried(Found):
    """A submission that was read here, on its way to a worker, with what an earlier run said of it."""

    data: bytes = b""
    earlier: SubmissionResult | None = None

    def read(self) -> bytes:
        if self.reason:
            raise Unreadable(self.reason)
        return self.data


@dataclass(frozen=True)
class _Parcel:
    """What a worker needs of a course. files: by their paths below the course's folder."""

    assignment: str
    files: dict[str, bytes]
    seed: int
    unsandboxed: bool

    @property
    def digest(self) -> str:
        """Equal for equal parcels."""
        digest = hashlib.sha256(f"{self.assignment}/{self.seed}/{self.unsandboxed}".encode())
        for name in sorted(self.files):
            digest.update(f"\0{name}\0{len(self.files[name])}\0".encode() + self.files[name])
        return digest.hexdigest()


@dataclass(frozen=True)
class _Graded:
    """One result as a worker made it: ready to be written."""

    result: SubmissionResult  # without its exercises, which stand in the texts
    page: str
    text: str


def in_cluster(
    found: Sequence[Found],
    settings: Settings,
    lost: Callable[[Found, Settings], SubmissionResult],
    failure: type[Exception],
) -> Iterator[SubmissionResult]:
    """Grade on the cluster of `settings.scheduler`. Raises `failure` with a sentence, and `CourseError`.

    lost: makes and writes the result of a submission over which workers were lost again and again.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise failure("--scheduler needs Dask. Install autograder[cluster].") from None
    source = Course(settings.root).source(settings.assignment)
    _require_scheduler(settings.scheduler, failure)
    try:
        client = Client(settings.scheduler, timeout=WAIT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise failure(f"No scheduler answers at {settings.scheduler}: {problem}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=WAIT_SECONDS)
        except TimeoutError:
            raise failure(f"The scheduler at {settings.scheduler} has no workers. Start some and try again.") from None
        parcel = _pack(source, settings)
        digest = parcel.digest
        sent = client.submit(_given, parcel, pure=False)  # not scattered: a worker that is lost takes nothing along
        waiting = [list(found[i : i + BATCH]) for i in range(0, len(found), BATCH)]
        waiting.reverse()
        running: dict[Any, list[Found]] = {}
        alone: set[str] = set()  # students who were, or are to be, graded with no other on the way
        ended = as_completed(loop=client.loop)

        suspects: list[Found] = []  # of batches that lost their workers: one at a time, when no other is to blame

        def send(batch: list[Found]) -> None:
            future = client.submit(_work, sent, digest, [_carried(one) for one in batch], pure=False)
            running[future] = batch
            ended.add(future)

        def fill() -> None:
            workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
            while waiting and len(running) < workers * AHEAD:
                send(waiting.pop())
            if suspects and not running:
                send([suspects.pop()])

        fill()
        for future in ended:
            batch = running.pop(future)
            try:
                graded = future.result()
            except KilledWorker:
                if batch[0].student in alone:
                    yield lost(batch[0], settings)
                else:
                    suspects.extend(batch)
                    alone.update(one.student for one in batch)
            else:
                for one in graded:
                    write_texts(settings.output, one.result.student, one.page, one.text)
                    yield one.result
            future.release()
            fill()


def _require_scheduler(address: str, failure: type[Exception]) -> None:
    """Raises `failure` where nobody listens: Dask's own client would go on trying."""
    parts = urllib.parse.urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise failure(f"{address} is no address of a scheduler. Expected one such as tcp://10.0.0.5:8786.")
    if parts.scheme in ("tcp", "tls"):
        try:
            socket.create_connection((host, port), CONNECT_SECONDS).close()
        except OSError as problem:
            raise failure(f"No scheduler answers at {address}: {problem.strerror or problem}.") from None


def _pack(source: Source, settings: Settings) -> _Parcel:
    folder = source.assignment.folder
    files = {
        path.relative_to(settings.root).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return _Parcel(source.assignment.name, files, settings.seed, settings.unsandboxed)


def _carried(found: Found) -> _Carried:
    try:
        data, reason = found.read(), ""
    except Unreadable as problem:
        data, reason = b"", str(problem)
    from autograder.grading.class_run import earlier_result

    return _Carried(
        found.student, Path(), reason=reason, flags=tuple(found.flags), data=data, earlier=earlier_result(found)
    )


# -- in a worker ------------------------------------------------------------------------------------------------------


def _given(parcel: _Parcel) -> _Parcel:
    return parcel


_lock = threading.Lock()
_graders: dict[str, Grader] = {}
_open = ExitStack()


def _work(parcel: _Parcel, digest: str, found: Sequence[_Carried]) -> list[_Graded]:
    """Grade a batch with this worker's grader, which is opened for the first."""
    from autograder.grading.class_run import grade_found

    with _lock:
        grader = _grader(parcel, digest)
        graded = []
        for one in found:
            result = grade_found(grader, one, one.earlier)
            graded.append(_Graded(replace(result, exercises=()), *texts_of(result, grader.assignment)))
        return graded


def _grader(parcel: _Parcel, digest: str) -> Grader:
    from distributed import get_worker

    if digest not in _graders:
        _graders.clear()
        _open.close()  # a worker holds one: that of the run before has no use
        # In Dask's own folder for this worker: what a worker that was killed leaves there, Dask removes.
        place = get_worker().local_directory
        folder = Path(_open.enter_context(tempfile.TemporaryDirectory(prefix="autograder-course-", dir=place)))
        for name, data in parcel.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        source = Course(folder).source(parcel.assignment)
        _graders[digest] = _open.enter_context(Grader.open(source, seed=parcel.seed, unsandboxed=parcel.unsandboxed))
        atexit.register(_open.close)
    return _graders[digest]

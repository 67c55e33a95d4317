"""A class on a Dask cluster: the same bytes as here, though workers are killed, and no submission kills on for ever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sample_class
from course_copies import copy_course
from test_class_run import contents

from autograder.course import Course
from autograder.grading import class_run
from autograder.grading.finding import find
from autograder.results import SubmissionResult

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

NAME = "smoothing"
DASK = str(Path(sys.executable).with_name("dask"))


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        }
        self.processes = [self._start("scheduler", "--port", "0", "--no-dashboard", "--no-show")]
        until = time.monotonic() + 120
        while not self.file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        self.address = str(json.loads(self.file.read_text(encoding="utf-8"))["address"])

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [DASK, *arguments, "--scheduler-file", str(self.file)],
            cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def worker(self, *, restarted: bool = False) -> subprocess.Popen[bytes]:
        nanny = "--nanny" if restarted else "--no-nanny"
        process = self._start("worker", "--nthreads", "1", "--no-dashboard", nanny, "--memory-limit", "0")
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


def graded(
    course: Course,
    folder: Path,
    output: Path,
    scheduler: str = "",
    tell: Callable[[SubmissionResult], Any] | None = None,
) -> dict[str, bytes]:
    settings = class_run.Settings(course.root, NAME, output, 7, 1, False, scheduler)
    class_run.grade_class(find([folder], NAME), settings, lambda result, _before: tell and tell(result))
    return contents(output)


def compare_with_workers_killed(tmp_path: Path, cluster: Cluster, count: int) -> None:
    course = copy_course(tmp_path / "course")
    folder = sample_class.many(course.source(NAME), tmp_path / "class", count)
    alone = graded(course, folder, tmp_path / "alone")
    workers = [cluster.worker(), cluster.worker(), cluster.worker(restarted=True)]
    heard = 0

    def tell(_result: SubmissionResult) -> None:
        nonlocal heard
        heard += 1
        for turn, worker in enumerate(workers[:2]):
            if heard == (turn + 1) * count // 4:
                os.kill(worker.pid, signal.SIGKILL)

    together = graded(course, folder, tmp_path / "together", cluster.address, tell)
    assert [worker.wait(60) for worker in workers[:2]] == [-signal.SIGKILL] * 2
    assert together == alone


def test_two_of_three_workers_killed_and_the_results_are_the_same_bytes(tmp_path: Path, cluster: Cluster) -> None:
    compare_with_workers_killed(tmp_path, cluster, 24)


@pytest.mark.long
def test_two_thousand_submissions_with_workers_killed(tmp_path: Path, cluster: Cluster) -> None:
    compare_with_workers_killed(tmp_path, cluster, 2000)


POISON = """
import os
from autograder.grading import class_run
_usual = class_run.grade_found
def _grade_found(grader, found, before):
    if found.student == "s00003":
        os._exit(9)
    return _usual(grader, found, before)
class_run.grade_found = _grade_found
"""


@pytest.mark.long
def test_a_poisonous_submission_ends_as_an_error_and_the_others_are_graded(tmp_path: Path, cluster: Cluster) -> None:
    course = copy_course(tmp_path / "course")
    folder = sample_class.many(course.source(NAME), tmp_path / "class", 6)
    (tmp_path / "poison.py").write_text(POISON, encoding="utf-8")
    cluster.environment["DASK_DISTRIBUTED__WORKER__PRELOAD"] = "['poison']"
    for _worker in range(2):
        cluster.worker(restarted=True)
    found: dict[str, str] = {}

    def tell(result: SubmissionResult) -> None:
        found[result.student] = result.status

    graded(course, folder, tmp_path / "grades", cluster.address, tell)
    assert found.pop("s00003") == "error" and found.pop("broken") == "ungradable"
    assert set(found.values()) == {"graded"} and len(found) == 5


def test_without_a_scheduler_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from autograder.grading import cluster

    monkeypatch.setattr(cluster, "WAIT_SECONDS", 1)
    course = copy_course(tmp_path / "course")
    folder = sample_class.many(course.source(NAME), tmp_path / "class", 1)
    with pytest.raises(class_run.RunFailed, match="No scheduler answers"):
        graded(course, folder, tmp_path / "grades", "tcp://127.0.0.1:9")

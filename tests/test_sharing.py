"""What workers of one run share is made once, and a worker that dies holds nobody up."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path

from autograder.grading.sharing import Shared

NAMES = [f"answer-{number}" for number in range(12)]


def test_each_thing_is_made_once_and_all_get_all(tmp_path: Path) -> None:
    made: list[str] = []
    got: list[list[str]] = []

    def make(name: str) -> str:
        made.append(name)
        time.sleep(0.005)
        return name.upper()

    workers = [threading.Thread(target=lambda: got.append(Shared(tmp_path).all(NAMES, make))) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(made) == sorted(NAMES)
    assert got == [[name.upper() for name in NAMES]] * 3


def begin_and_hang(folder: Path, begun: str) -> None:
    def make(name: str) -> str:
        Path(begun).touch()
        time.sleep(600)
        return name

    Shared(folder).all(NAMES, make)


def test_what_a_worker_that_died_had_begun_is_made_by_another(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    folder = tmp_path / "shared"
    folder.mkdir()
    worker = multiprocessing.get_context("spawn").Process(target=begin_and_hang, args=(folder, str(begun)))
    worker.start()
    until = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < until:
        time.sleep(0.01)
    threading.Timer(0.2, worker.kill).start()
    assert Shared(folder).all(NAMES, str.upper) == [name.upper() for name in NAMES]
    worker.join()


def test_a_worker_that_is_alone_makes_all_and_writes_nothing(tmp_path: Path) -> None:
    assert Shared(None).all(NAMES, str.upper) == [name.upper() for name in NAMES]
    assert list(tmp_path.iterdir()) == []

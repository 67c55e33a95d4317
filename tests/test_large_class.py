"""A class of a thousand, one in twenty broken or hostile: the others get what they get alone, and nothing is left.

CLASS_SIZE sets another size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from attack_support import ATTACKS, submission

from autograder.course import Course, Source
from autograder.grading.submission import Grader
from autograder.grading.writing import read_result

pytestmark = [pytest.mark.long, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")]
Notebook = Callable[..., bytes]
SIZE = int(os.environ.get("CLASS_SIZE", "1000"))
SEED = 11
BROKEN = (b"", b"[]", b"<html>Log in</html>", b'{"cells": [', b"[" * 50_000, b"%PDF-1.7")
MOST_MEMORY = 4 << 30


class Memory(threading.Thread):
    """Adds up what a process and all below it take, as long as it lives: what is shared is counted once."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._process = process
        self.peak = 0
        self.seen: set[int] = set()

    def run(self) -> None:
        while Path(f"/proc/{self._process}").exists():
            found = self._below(self._process)
            self.seen.update(found)
            self.peak = max(self.peak, sum(map(self._takes, found)))
            time.sleep(0.5)

    def _below(self, process: int) -> list[int]:
        try:
            threads = list(Path(f"/proc/{process}/task").iterdir())
            children = [int(one) for thread in threads for one in (thread / "children").read_text().split()]
        except OSError:
            return []
        return [process, *(one for child in children for one in self._below(child))]

    @staticmethod
    def _takes(process: int) -> int:
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            return 0
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


PLANTED = ("it-ran", "planted", "ran", "00.py", "torch.py", "results.json", "grades.csv", ".pythonrc")


def left_behind() -> set[str]:
    """What learners' code might plant, beside the grader's own temporary folder."""
    places = (Path(tempfile.gettempdir()), Path("/dev/shm"), Path.home())
    names = {str(path) for place in places if place.is_dir() for path in place.iterdir()}
    return {name for name in names if Path(name).name.startswith(PLANTED)}


def test_a_thousand_submissions_one_in_twenty_broken_or_hostile(
    course: Course, source: Source, grader: Grader, notebook_with: Notebook, tmp_path: Path
) -> None:
    variants = [*source.wrong[::7], *source.right[::7]]
    honest = {one.exercise + "/" + one.name: notebook_with({one.exercise: one.code}) for one in variants}
    alone = {name: grader.grade_bytes("s", data) for name, data in honest.items()}
    bad = [*BROKEN, *(submission(course, source, attack) for attack in ATTACKS if attack.name != "sleeps")]
    folder = tmp_path / "class"
    folder.mkdir()
    given: dict[str, str] = {}
    names = sorted(honest)
    for number in range(SIZE):
        student = f"s{number:04}"
        if number % 20 == 7:
            (folder / f"{student}.ipynb").write_bytes(bad[number // 20 % len(bad)])
        else:
            given[student] = names[number % len(names)]
            (folder / f"{student}.ipynb").write_bytes(honest[given[student]])
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = left_behind()
    command = [sys.executable, "-m", "autograder", "grade", str(folder), "--output", str(tmp_path / "grades")]
    started = time.monotonic()
    process = subprocess.Popen(
        [*command, "--seed", str(SEED), "--jobs", "2"], cwd=course.root, env={**os.environ, "TMPDIR": str(temporary)}
    )
    memory = Memory(process.pid)
    memory.start()
    assert process.wait() == 1
    seconds = time.monotonic() - started
    memory.join()
    print(f"{SIZE} submissions in {seconds:.0f} s, peak memory {memory.peak >> 20} MB")
    for student, name in given.items():
        result = read_result(tmp_path / "grades" / "students" / f"{student}.json")
        assert result is not None and result.status == "graded"
        same = replace(result, student="s", seconds=0.0, flags=())
        assert same == replace(alone[name], seconds=0.0, flags=()), (student, name)
    assert len(list((tmp_path / "grades" / "students").glob("*.json"))) == SIZE
    time.sleep(2)
    assert not [one for one in memory.seen if Path(f"/proc/{one}").exists() and "autograder" in _command(one)]
    assert left_behind() <= before and list(temporary.iterdir()) == []
    assert memory.peak < MOST_MEMORY
    assert json.loads((tmp_path / "grades" / "run.json").read_text(encoding="utf-8"))["seed"] == SEED


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

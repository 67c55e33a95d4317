"""A learner's notebook file, run and checked as its learner sees it: recorded checks, this process, this machine."""

from __future__ import annotations

import contextlib
import io
import math
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from traitlets.config import Config

from autograder import notebooks
from autograder.cell_shell import CellShell, cell_name
from autograder.course import Assignment
from autograder.interrupting import StoppedIn, is_interrupt
from autograder.language import _
from autograder.notebook_check import Checked, silenced, try_exercises, where_stopped
from autograder.notebooks import Cell
from autograder.observations import Problem
from autograder.probes import COURSE, problem_of

LONG = 10.0  # seconds after which what runs is named


def check_file(path: Path, assignment: Assignment, exercises: Sequence[str], *, trace: bool = False) -> list[Checked]:
    """Run the notebook's cells and try the named exercises, or all of them together.

    What takes long is named on stderr, for an endless loop says nothing of itself. Raises `Unreadable`, `CourseError`,
    `CheckError`, and `StoppedIn` where Ctrl-C ends it in the learner's code.
    """
    submission = notebooks.read(notebooks.read_file(path), assignment)
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = CellShell(config=config)
    problems: dict[str, Problem] = {}
    sink = io.StringIO()
    before = Path.cwd()
    numbers = {cell_name(position): position for position in range(len(submission.cells))}
    with _Watch(sys.stderr) as watch:
        with silenced(), contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            os.chdir(path.absolute().parent)
            try:
                shell.run_named(COURSE, assignment.namespace)
                for position, cell in enumerate(submission.cells):
                    what = _cell_in_words(position, cell)
                    watch.begin(what)
                    error = shell.run_named(cell_name(position), cell.source)
                    if error is None:
                        continue
                    problem = problem_of(error, shell.user_ns, numbers)
                    if is_interrupt(error):
                        raise StoppedIn(where_stopped(what, problem))
                    problems.update(dict.fromkeys(cell.exercises, problem))
            finally:
                os.chdir(before)
        watch.rest()

        def tell(exercise: str) -> None:
            watch.begin(_("the check of {exercise}").format(exercise=exercise))

        names: Sequence[str | None] = exercises or [None]
        return [try_exercises(assignment, shell.user_ns, name, problems, trace=trace, tell=tell) for name in names]


def _cell_in_words(position: int, cell: Cell) -> str:
    number = position + 1
    if not cell.exercises:
        return _("code cell {number}").format(number=number)
    return _("code cell {number}, the answer of {exercise}").format(number=number, exercise=", ".join(cell.exercises))


class _Watch:
    """Says on a stream what has been running for long, once for each step."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._what, self._until = "", math.inf
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def begin(self, what: str) -> None:
        """A step begins; where it is the one before, it goes on."""
        if what != self._what:
            self._what, self._until = what, time.monotonic() + LONG

    def rest(self) -> None:
        """Nothing of the learner's runs now."""
        self._what, self._until = "", math.inf

    def _look(self) -> None:
        while not self._over.wait(min(1.0, LONG / 2)):
            if time.monotonic() >= self._until:
                self._until = math.inf
                words = _("autograder: after {seconds:g} seconds this still runs: {what}. Ctrl-C stops it.")
                print(words.format(seconds=LONG, what=self._what), file=self._stream, flush=True)

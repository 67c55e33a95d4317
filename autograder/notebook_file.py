"""A learner's notebook file, run and checked as its learner sees it: recorded checks, this process, this machine."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Sequence
from pathlib import Path

from traitlets.config import Config

from autograder import notebooks
from autograder.cell_shell import CellShell, cell_name
from autograder.course import Assignment
from autograder.notebook_check import Checked, silenced, try_exercises
from autograder.observations import Problem
from autograder.probes import COURSE, problem_of


def check_file(path: Path, assignment: Assignment, exercises: Sequence[str], *, trace: bool = False) -> list[Checked]:
    """Run the notebook's cells and try the named exercises, or all of them together.

    Raises `Unreadable`, `CourseError`, `CheckError`.
    """
    submission = notebooks.read(notebooks.read_file(path), assignment)
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = CellShell(config=config)
    problems: dict[str, Problem] = {}
    sink = io.StringIO()
    before = Path.cwd()
    with silenced(), contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
        os.chdir(path.absolute().parent)
        try:
            shell.run_named(COURSE, assignment.namespace)
            for position, cell in enumerate(submission.cells):
                error = shell.run_named(cell_name(position), cell.source)
                if error is not None:
                    problem = problem_of(error, shell.user_ns, {cell_name(position): position})
                    problems.update(dict.fromkeys(cell.exercises, problem))
        finally:
            os.chdir(before)
    names: Sequence[str | None] = exercises or [None]
    return [try_exercises(assignment, shell.user_ns, name, problems, trace=trace) for name in names]

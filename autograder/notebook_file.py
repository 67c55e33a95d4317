"""A learner's notebook file, run and checked as its learner sees it: recorded checks, this process, this machine."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Sequence
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder import notebooks
from autograder.course import Assignment
from autograder.notebook_check import Checked, silenced, try_exercises
from autograder.observations import Problem


def check_file(path: Path, assignment: Assignment, exercises: Sequence[str], *, trace: bool = False) -> list[Checked]:
    """Run the notebook's cells and try the named exercises, or all of them together.

    Raises `Unreadable`, `CourseError`, `CheckError`.
    """
    submission = notebooks.read(notebooks.read_file(path), assignment)
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell(config=config)
    problems: dict[str, Problem] = {}
    sink = io.StringIO()
    before = Path.cwd()
    with silenced(), contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
        os.chdir(path.absolute().parent)
        try:
            shell.run_cell(assignment.namespace, silent=True)
            for cell in submission.cells:
                outcome = shell.run_cell(cell.source, silent=True)
                error = outcome.error_before_exec or outcome.error_in_exec
                if error is not None:
                    problems.update({name: Problem(type(error).__name__, str(error)) for name in cell.exercises})
        finally:
            os.chdir(before)
    names: Sequence[str | None] = exercises or [None]
    return [try_exercises(assignment, shell.user_ns, name, problems, trace=trace) for name in names]

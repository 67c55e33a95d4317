"""A learner's notebook file, run and checked as its learner sees it: recorded checks, this process, this machine."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder import notebooks
from autograder.course import Assignment
from autograder.notebook_check import Checked, silenced, try_exercises
from autograder.observations import Problem
from autograder.probes import COURSE, problem_of


class _Compiler(CachingCompiler):  # type: ignore[misc]
    """Names the code that runs next as it is told to."""

    name = COURSE

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return self.name


class _Shell(InteractiveShell):  # type: ignore[misc]
    compiler_class = _Compiler

    def run_named(self, name: str, code: str) -> BaseException | None:
        """Runs code that is known by this file name; returns what stopped it."""
        self.compile.name = name
        outcome: Any = self.run_cell(code, silent=True)
        return outcome.error_before_exec or outcome.error_in_exec  # type: ignore[no-any-return]


def check_file(path: Path, assignment: Assignment, exercises: Sequence[str], *, trace: bool = False) -> list[Checked]:
    """Run the notebook's cells and try the named exercises, or all of them together.

    Raises `Unreadable`, `CourseError`, `CheckError`.
    """
    submission = notebooks.read(notebooks.read_file(path), assignment)
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = _Shell(config=config)
    problems: dict[str, Problem] = {}
    sink = io.StringIO()
    before = Path.cwd()
    with silenced(), contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
        os.chdir(path.absolute().parent)
        try:
            shell.run_named(COURSE, assignment.namespace)
            for position, cell in enumerate(submission.cells):
                name = f"<cell {position}>"
                error = shell.run_named(name, cell.source)
                if error is not None:
                    problem = problem_of(error, shell.user_ns, {name: position})
                    problems.update(dict.fromkeys(cell.exercises, problem))
        finally:
            os.chdir(before)
    names: Sequence[str | None] = exercises or [None]
    return [try_exercises(assignment, shell.user_ns, name, problems, trace=trace) for name in names]

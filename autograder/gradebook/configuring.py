"""The settings that make nbgrader's own commands, and its formgrader, use this course's folders and our steps."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGrader
from traitlets.config import Application

from autograder.course import Course
from autograder.release import refresh_source, source_folder


def put_environment_first() -> None:
    """nbgrader runs `alembic` from PATH for its first database: this environment's own must be found."""
    own = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if own not in path.split(os.pathsep):
        os.environ["PATH"] = own + os.pathsep + path if path else own


def configure(c: Any, root: Path) -> None:
    """Set nbgrader's configuration object `c` for the course in `root`, and bring its source folder up to date.

    `submitted/`, `autograded/`, `feedback/` and `gradebook.db` stand in `root`, as in every course of nbgrader's.

    Where the course's own files are wrong, one of nbgrader's commands ends with a sentence: without our settings it
    would run what was handed in unprotected. A Jupyter server says the sentence and goes on, since its formgrader is
    not all that people have open in it; there, releasing and grading refuse with that sentence.
    """
    put_environment_first()
    root = root.resolve()
    course = Course(root)
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.source_directory = str(source_folder(course).relative_to(root))
    c.CourseDirectory.release_directory = str(course.released.relative_to(root))
    # By name: only the command that grades imports torch.
    c.Autograde.exporter_class = "autograder.gradebook.steps.SubmissionReader"
    c.Autograde.sanitize_preprocessors = [
        "nbgrader.preprocessors.DeduplicateIds",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.Autograde.autograde_preprocessors = [
        "autograder.gradebook.steps.GradeInSandbox",
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        "nbgrader.preprocessors.LimitOutput",
        "autograder.gradebook.steps.SaveGrades",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.Autograde.pre_convert_hook = "autograder.gradebook.steps.before_a_submission"
    c.OverwriteCells.add_missing_cells = True
    try:
        # Grading takes checks and inputs from the course, so no copy of them is needed beside each submission.
        c.Autograde.exclude_overwriting = {
            name: _beside_notebook(refresh_source(course, source)) for name, source in course.sources.items()
        }
    except Exception as problem:  # nbgrader only logs what its settings raise, and goes on without them
        if not _in_server():
            raise SystemExit(f"autograder: {problem}") from None
        Application.instance().log.error("autograder: %s Until that is mended nothing is released or graded.", problem)
        _refuse(c, str(problem))


def _in_server() -> bool:
    return Application.initialized() and not isinstance(Application.instance(), NbGrader)


def _refuse(c: Any, reason: str) -> None:
    """Have releasing and grading refuse, with the reason."""
    c.Refuse.reason = reason
    c.GenerateAssignment.exporter_class = c.Autograde.exporter_class = "autograder.gradebook.refusing.Refuse"


def _beside_notebook(folder: Path) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb"
    ]

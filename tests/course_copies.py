"""Copies of courses in folders of their own, where nbgrader and release may write, and nbgrader's own commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from autograder.course import Course
from autograder.release import refresh_source

ROOT = Path(__file__).parents[1]
SECOND = ROOT / "tests" / "second_course"
SEED = 11  # that of the grader which tests share


def build_root() -> None:
    """The course's own `build/source`, up to date: tests in several processes record once, not each for itself."""
    course = Course(ROOT)
    (ROOT / "build").mkdir(exist_ok=True)
    with FileLock(ROOT / "build" / "tests.lock"):
        refresh_source(course, course.source())


def copy_course(folder: Path, of: Path = SECOND, *, seed: int | None = SEED) -> Course:
    """A copy of a course with our nbgrader_config.py; what was built of it comes along, since building costs time."""
    if of == ROOT:
        build_root()
    for name in ("solutions", "exercises", "build/source"):
        if (of / name).is_dir():
            shutil.copytree(of / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (of / "build").glob("*.made-from"):
        shutil.copyfile(path, folder / "build" / path.name)
    settings = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    if seed is not None:
        settings += f"c.GradeInSandbox.seed = {seed}\n"
    (folder / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    return Course(folder)


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    said: str


_own_settings = tempfile.TemporaryDirectory(prefix="settings-")  # nobody's own settings of Jupyter and IPython


def run(folder: Path, *command: str, expected: int | None = 0, stock: bool = False) -> Done:
    """Run a command in a folder. Unless stock, PATH lacks this environment: our settings must put it there."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "NBGRADER", "PYTEST"))
    }
    environment["PATH"] = os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin"))
    if stock:
        environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), environment["PATH"]))
    environment["JUPYTER_CONFIG_DIR"] = environment["IPYTHONDIR"] = _own_settings.name
    done = subprocess.run(
        [str(Path(sys.executable).parent / command[0]), *command[1:]],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert expected is None or done.returncode == expected, f"{' '.join(command)} ended with {done.returncode}:\n{said}"
    return Done(done.returncode, said)


def nbgrader(folder: Path, *arguments: str, expected: int | None = 0, stock: bool = False) -> Done:
    """Run one of nbgrader's own commands."""
    return run(folder, "nbgrader", *arguments, expected=expected, stock=stock)


@dataclass(frozen=True)
class Grades:
    """What a gradebook says of one submission."""

    scores: dict[str, float | None]  # by exercise
    manual: dict[str, float | None]
    score: float
    needs_manual_grade: bool
    comments: dict[str, str | None]


def gradebook(folder: Path, assignment: str) -> dict[str, Grades]:
    """Every submission in the folder's gradebook, by student."""
    from nbgrader.api import Gradebook

    found: dict[str, Grades] = {}
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        for submission in book.assignment_submissions(assignment):
            grades: list[Any] = [grade for notebook in submission.notebooks for grade in notebook.grades]
            comments = [comment for notebook in submission.notebooks for comment in notebook.comments]
            found[submission.student.id] = Grades(
                {grade.name.removeprefix("check-"): grade.auto_score for grade in grades},
                {grade.name.removeprefix("check-"): grade.manual_score for grade in grades},
                submission.score,
                submission.needs_manual_grade,
                {comment.name: comment.comment for comment in comments},
            )
    return found

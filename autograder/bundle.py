"""The learners' zip: all that a learner needs beside Python itself."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from autograder.course import SETTINGS, Assignment, CourseError, read_toml
from autograder.language import _

# Loose: whatever a learner already has that is new enough will do.
REQUIREMENTS = ("torch>=2.4", "jupyterlab>=4")
EPOCH = (2026, 1, 1, 0, 0, 0)  # fixed, since the same content must give the same bytes
START = "START-HERE.md"


def write_bundle(assignment: Assignment, released: Path, path: Path) -> None:
    """Zip a released folder with the engine's wheel, its requirements and the first page. Raises `CourseError`.

    Everything lies in one folder named as the assignment.
    """
    with tempfile.TemporaryDirectory(prefix="wheel-") as temporary:
        wheel = build_wheel(Path(temporary))
        files = {
            file.relative_to(released).as_posix(): file.read_bytes()
            for file in sorted(released.rglob("*"))
            if file.is_file()
        }
        files[f"wheels/{wheel.name}"] = wheel.read_bytes()
        files["requirements.txt"] = requirements(assignment, wheel.name).encode()
        files[START] = start_here(assignment).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{assignment.name}/{name}", EPOCH)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # on every machine, so that the bytes agree
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def build_wheel(folder: Path) -> Path:
    """The engine as a wheel, built without network. Raises `CourseError`."""
    project = Path(__file__).resolve().parent.parent
    if not (project / "pyproject.toml").is_file():
        raise CourseError(
            "The learners' zip needs the autograder's own source, but it is installed here as a package. "
            "Clone the course, and install it with `pip install -e .`."
        )
    command = [sys.executable, "-m", "flit_core.wheel", "--outdir", str(folder)]
    done = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "SOURCE_DATE_EPOCH": "315532800"},
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise CourseError(f"The engine's wheel cannot be built: {' '.join(last)} Install autograder[instructor].")
    return wheels[0]


def requirements(assignment: Assignment, wheel: str) -> str:
    """`requirements.txt` of the zip: the engine's wheel beside it, the rest from PyPI.

    An assignment names what else its learners may import as `requirements = [...]`.
    """
    more = read_toml(assignment.folder / SETTINGS).get("requirements", [])
    return "\n".join([*REQUIREMENTS, *more, f"./wheels/{wheel}"]) + "\n"


def start_here(assignment: Assignment) -> str:
    """The first page of the zip."""
    return _(
        """# {title}

You need Python 3.10 or newer ([python.org](https://www.python.org/downloads/)), about 2 GB of disk space, and a network
for the second command. Nothing you do here leaves your computer.

Unpack the whole zip. Open a terminal (on Windows: PowerShell) in this folder, where `{notebook}` lies, and type these
lines, one after the other.

## Windows

    py -m venv .venv
    .venv\\Scripts\\python -m pip install -r requirements.txt
    .venv\\Scripts\\python -m jupyter lab {notebook}

## macOS

    python3 -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt
    .venv/bin/python -m jupyter lab {notebook}

## Linux

    python3 -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt
    .venv/bin/python -m jupyter lab {notebook}

On Linux the second command may fetch a PyTorch for graphics cards, which takes several GB more. The page
[pytorch.org/get-started](https://pytorch.org/get-started/locally/) shows the line for a small one without: choose "CPU"
there. The line begins with `pip3 install`. Type `.venv/bin/python -m pip install` in place of these two words. Run it
between the first and the second command.

## Then

The notebook opens in your browser. Run the first cell, read a task, write your answer where it says
`raise NotImplementedError()`, and run the cell with `check(...)` below it. It says what holds, what does not, and what
to try. There are {count} exercises; together they take about {minutes} minutes. The next time, only the last command
is needed.

You can also check the saved notebook in a terminal. In this folder, on macOS and Linux:

    .venv/bin/autograder check {notebook} {example}

On Windows:

    .venv\\Scripts\\autograder check {notebook} {example}

{traces}Hand in one file: `{notebook}`.

{book}## If something is in the way

- "py" or "python3" is not found: install Python first, and open a new terminal.
- The checks are not found: the notebook must stay in this folder, beside `checks` and `recordings`.
- The first line of the notebook fails: choose the kernel "Python 3 (ipykernel)" at the top right of the notebook.
"""
    ).format(
        title=_(assignment.title),
        notebook=f"{assignment.name}.ipynb",
        count=len(assignment.exercises),
        minutes=assignment.minutes,
        example=next(iter(assignment.traces), assignment.exercises[0].name),
        traces=_what_can_be_traced(assignment),
        book=_where_the_book_is(assignment),
    )


def _what_can_be_traced(assignment: Assignment) -> str:
    if not assignment.traces:
        return ""
    return _(
        """With `--trace` at its end this command also follows your own code, line by line. In the notebook,
`check("{example}", trace=True)` does. These exercises can be traced: {names}.

"""
    ).format(
        example=next(iter(assignment.traces)),
        names=", ".join(f"`{name}`" for name in assignment.traces),
    )


def _where_the_book_is(assignment: Assignment) -> str:
    if not assignment.chapters:
        return ""
    if assignment.book:
        return _(
            """## The book

Each task names the chapter of the book that explains it. The book is at {address}.

"""
        ).format(address=assignment.book)
    return _(
        """## The book

Each task names the chapter of the book that explains it. This zip stands on the page "Exercises" of the book. If you
got the zip alone, ask your instructor for the book.

"""
    )

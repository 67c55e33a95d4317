"""The learner's side, made from the one source: nbgrader's source folder, `exercises/NAME`, and the learners' zip.

    solutions/NAME  →  build/source/NAME   the solved notebook and what learners may have; nbgrader releases from here
                    →  exercises/NAME      the same with stubs, by nbgrader's own generator; committed
                    →  dist/NAME.zip       the same with the engine's wheel and START-HERE.md

The same source gives the same bytes: cell ids are fixed, nothing holds a time, and a recording whose numbers are those
of the released one within the tolerance keeps the released file.

Imports torch only where something is recorded: every command of nbgrader's loads this file.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import leaks, notebooks
from autograder.bundle import write_bundle
from autograder.course import SETTINGS, Assignment, Course, CourseError, Source
from autograder.notebooks import Cell

# Files of the engine that decide what a recording holds.
_RECORDED_BY = ("checking.py", "recordings.py", "wire.py", "probes.py", "tracing.py", "routes.py")
_LEFT_OUT = ("__pycache__", ".pyc", ".ipynb_checkpoints")


@dataclass(frozen=True)
class ReleaseReport:
    """What one release wrote. changed: files of `folder`, relative to it, that are new, gone or different."""

    name: str
    folder: Path
    bundle: Path
    changed: Sequence[str]

    @property
    def sentence(self) -> str:
        """For the instructor."""
        changes = f"{len(self.changed)} files changed" if self.changed else "nothing changed"
        size = self.bundle.stat().st_size / 1000
        return f"{self.name}: {self.folder} is up to date ({changes}); {self.bundle} has {size:,.0f} kB."


def release(course: Course, name: str | None = None) -> ReleaseReport:
    """Write one assignment's released folder and zip. Raises `CourseError`, also when an answer would leak."""
    source = course.source(name)
    name = source.assignment.name
    built = refresh_source(course, source)
    with tempfile.TemporaryDirectory(prefix="release-") as temporary:
        folder = generate(built, Path(temporary))
        zipped = Path(temporary) / f"{name}.zip"
        write_bundle(source.assignment, folder, zipped)
        found = leaks.find([folder, zipped], leaks.secrets(source))
        if found:
            raise CourseError("Nothing was released:\n" + "\n".join(map(str, found)))
        changed = mirror(folder, course.released / name)
        bundle = course.root / "dist" / f"{name}.zip"
        bundle.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(zipped, bundle)
    return ReleaseReport(name, course.released / name, bundle, changed)


# -- nbgrader's source folder -----------------------------------------------------------------------------------------


def source_folder(course: Course) -> Path:
    """nbgrader's `source_directory`."""
    return course.root / "build" / "source"


def refresh_source(course: Course, source: Source) -> Path:
    """`build/source/NAME`, made anew where what it is made from has changed. Raises `CourseError`."""
    folder = source_folder(course) / source.assignment.name
    stamp = course.root / "build" / f"{source.assignment.name}.made-from"
    made_from = fingerprint(source)
    if folder.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == made_from:
        return folder
    with tempfile.TemporaryDirectory(prefix="source-") as temporary:
        new = Path(temporary) / source.assignment.name
        new.mkdir()
        _write_source(source, new, released=course.released / source.assignment.name)
        mirror(new, folder)
    stamp.write_text(made_from, encoding="utf-8")
    return folder


def fingerprint(source: Source) -> str:
    """Digest of all that the learner's side is made from."""
    folder = source.assignment.folder
    paths = [
        source.notebook,
        folder / SETTINGS,
        *_files(folder / "checks"),
        *_files(folder / "wrong"),
        *_files(folder / "right"),
    ]
    paths += [Path(__file__).parent / name for name in _RECORDED_BY]
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _write_source(source: Source, folder: Path, released: Path) -> None:
    import nbformat

    from autograder import recordings
    from autograder.grading.submission import record_release

    assignment = source.assignment
    nbformat.write(_solved_notebook(source), folder / f"{assignment.name}.ipynb")
    settings = (assignment.folder / SETTINGS).read_text(encoding="utf-8")
    if not settings.startswith("name ="):  # the learner's folder may be called otherwise
        settings = f'name = "{assignment.name}"\n{settings}'
    (folder / SETTINGS).write_text(settings, encoding="utf-8", newline="\n")
    for path in _files(assignment.checks):
        copy = folder / "checks" / path.relative_to(assignment.checks)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    recordings.save(record_release(source), folder / "recordings", {})
    for path in _files(folder / "recordings"):
        before = released / "recordings" / path.name
        if before.is_file() and _same_recording(path, before):
            shutil.copyfile(before, path)


def _solved_notebook(source: Source) -> Any:
    from autograder.solved import solved_notebook

    notebook = solved_notebook(source)
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)  # Jupytext's own note on the text it was read from
    return notebook


def _same_recording(one: Path, other: Path) -> bool:
    from autograder import wire
    from autograder.comparing import equal

    try:
        return equal(wire.decode(one.read_bytes()), wire.decode(other.read_bytes()))
    except wire.Malformed:
        return False


def _files(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.rglob("*") if path.is_file() and not any(part in path.as_posix() for part in _LEFT_OUT)
    )


def mirror(new: Path, folder: Path) -> list[str]:
    """Make `folder` hold what `new` holds, touching only what differs. Returns the names of what was touched."""
    wanted = {path.relative_to(new): path for path in _files(new)}
    present = {path.relative_to(folder): path for path in _files(folder)} if folder.is_dir() else {}
    changed = []
    for name, path in present.items():
        if name not in wanted:
            path.unlink()
            changed.append(name.as_posix())
    for name, path in wanted.items():
        target = folder / name
        data = path.read_bytes()
        if name not in present or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)  # nbgrader may have made it read-only
            target.write_bytes(data)
            changed.append(name.as_posix())
    return sorted(changed)


# -- stubs, by nbgrader's own generator -------------------------------------------------------------------------------


def generate(built: Path, root: Path, db_url: str = "") -> Path:
    """Run nbgrader's generator on `build/source/NAME`: returns `root/release/NAME`. Raises `CourseError`.

    With `db_url` the gradebook learns of the exercises and their points.
    """
    try:
        from nbgrader.converters import GenerateAssignment
        from nbgrader.coursedir import CourseDirectory
        from traitlets.config import Config
    except ImportError as problem:
        raise CourseError(
            f"Releasing needs nbgrader, which is not here ({problem}). Install autograder[instructor]."
        ) from None
    config = Config()
    config.CourseDirectory.root = str(root.resolve())
    config.CourseDirectory.source_directory = str(built.parent.resolve())
    config.CourseDirectory.release_directory = "release"
    config.CourseDirectory.assignment_id = built.name
    if db_url:
        config.CourseDirectory.db_url = db_url
    else:
        config.SaveCells.enabled = False
    # An absolute source folder stands in front of the pattern's other parts, so the pattern itself need not change.
    course_directory = CourseDirectory(config=config)
    converter = GenerateAssignment(coursedir=course_directory, config=config, no_database=not db_url)
    try:
        converter.start()
    except Exception as problem:  # whatever nbgrader meets in the course's notebook
        raise CourseError(f"nbgrader cannot make the stubs of {built.name}: {problem}") from problem
    return root / "release" / built.name


def stub_notebook(source: Source, db_url: str = "") -> Any:
    """The notebook as learners get it, as an nbformat notebook. Raises `CourseError`."""
    import nbformat

    name = source.assignment.name
    with tempfile.TemporaryDirectory(prefix="stubs-") as temporary:
        built = Path(temporary) / "source" / name
        built.mkdir(parents=True)
        nbformat.write(_solved_notebook(source), built / f"{name}.ipynb")
        folder = generate(built, Path(temporary), db_url)
        return nbformat.read(folder / f"{name}.ipynb", as_version=4)


def stub_cells(source: Source) -> Sequence[Cell]:
    """The untouched notebook's code cells, read as a submission is read."""
    import nbformat

    return notebooks.read(nbformat.writes(stub_notebook(source)).encode(), source.assignment).cells


# -- is what is committed up to date? ---------------------------------------------------------------------------------


def differences(course: Course, source: Source) -> list[str]:
    """Sentences on how `exercises/NAME` differs from what the source gives; numbers count by the tolerance."""
    return list(_differences(course, source))


def _differences(course: Course, source: Source) -> Iterator[str]:
    name = source.assignment.name
    released = course.released / name
    with tempfile.TemporaryDirectory(prefix="compared-") as temporary:
        folder = generate(refresh_source(course, source), Path(temporary))
        wanted = {path.relative_to(folder): path for path in _files(folder)}
        present = {path.relative_to(released): path for path in _files(released)}
        for path in sorted(wanted.keys() | present.keys()):
            if path not in present:
                yield f"{released / path} is missing."
            elif path not in wanted:
                yield f"{released / path} is not part of the release."
            elif wanted[path].read_bytes() != present[path].read_bytes():
                yield f"{released / path} is not what the source gives: run `autograder release`."


def released_assignment(course: Course, name: str) -> Assignment:
    """What learners have of an assignment. Raises `CourseError` where it was not released."""
    folder = course.released / name
    if not (folder / SETTINGS).is_file():
        raise CourseError(f"{name} is not released yet: run `autograder release`.")
    return Assignment.read(folder)

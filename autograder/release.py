"""The learner's side, made from the one source: nbgrader's source folder, `exercises/NAME`, and the learners' zip.

    solutions/NAME  →  build/source/NAME   the solved notebook and what learners may have; nbgrader releases from here
                    →  exercises/NAME      the same with stubs, by nbgrader's own generator; committed
                    →  dist/NAME.zip       the same with the engine's wheel and START-HERE.md

The same source gives the same bytes: cell ids are fixed, nothing holds a time, and a recording whose numbers are those
of a released one within the tolerance keeps the released file. Another machine computes other last digits; so what
leaves `exercises/` is kept in `build/recordings/NAME`, for the release that wants it back.

What people made is never lost. `exercises/NAME.sha256` says which files release wrote, and how it left them. Files that
are not among them stay, and one that somebody changed is put aside, into `build/set-aside/NAME`, before it is replaced.

Imports torch only where something is recorded: every command of nbgrader's loads this file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder import leaks, notebooks
from autograder.bundle import write_bundle
from autograder.course import SETTINGS, Assignment, Course, CourseError, Source
from autograder.notebooks import Cell

# Files of the engine that decide what a recording holds.
_RECORDED_BY = ("checking.py", "recordings.py", "wire.py", "probes.py", "tracing.py", "routes.py")
_LEFT_OUT = ("__pycache__", ".pyc", ".ipynb_checkpoints")
RECORDINGS = "recordings"


@dataclass(frozen=True)
class ReleaseReport:
    """What one release wrote.

    changed: files of `folder`, relative to it, that are new, gone or different. foreign: files there that release did
    not write, which stay. aside: by the name of a file that somebody changed since the last release, where it lies now.
    """

    name: str
    folder: Path
    bundle: Path
    changed: Sequence[str]
    foreign: Sequence[str] = ()
    aside: Mapping[str, Path] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """For the instructor."""
        count = len(self.changed)
        changes = f"was brought up to date: {count} file{'' if count == 1 else 's'} changed"
        size = self.bundle.stat().st_size / 1000
        said = [
            f"{self.name}: {self.folder} {changes if count else 'is up to date: nothing changed'}; {self.bundle} has "
            f"{size:,.0f} kB."
        ]
        if self.foreign:
            said.append(f"What is not part of the release stays where it is: {', '.join(self.foreign)}.")
        if self.aside:
            moved = ", ".join(f"{name} is now {path}" for name, path in self.aside.items())
            said.append(f"What was changed there since the last release was put aside: {moved}.")
        return " ".join(said)


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
        written = _publish(folder, course.released / name, course.root / "build")
        bundle = course.root / "dist" / f"{name}.zip"
        bundle.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(zipped, bundle)
    return replace(written, bundle=bundle)


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
        _write_source(source, new, _earlier_recordings(course, source.assignment.name))
        mirror(new, folder)
    stamp.write_text(made_from, encoding="utf-8")
    return folder


def fingerprint(source: Source) -> str:
    """Digest of all that the learner's side is made from. Raises `CourseError` where something of it is missing."""
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
        try:
            digest.update(path.read_bytes())
        except OSError as problem:
            raise CourseError(f"{path} cannot be read: {problem.strerror}. Every release is made from it.") from problem
    return digest.hexdigest()


def _earlier_recordings(course: Course, name: str) -> list[Path]:
    """Folders with recordings as they were released: now, and before."""
    return [course.released / name / RECORDINGS, *sorted((course.root / "build" / RECORDINGS / name).glob("*"))]


def _write_source(source: Source, folder: Path, earlier: Sequence[Path]) -> None:
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
    recordings.save(record_release(source), folder / RECORDINGS, {})
    for path in _files(folder / RECORDINGS):
        for before in (other / path.name for other in earlier):
            if before.is_file() and _same_recording(path, before):
                shutil.copyfile(before, path)
                break


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


def mirror(new: Path, folder: Path, keep: Collection[str] = ()) -> list[str]:
    """Make `folder` hold what `new` holds, touching only what differs. Returns the names of what was touched.

    keep: names of files in `folder` that stay though `new` lacks them.
    """
    wanted = {path.relative_to(new): path for path in _files(new)}
    present = {path.relative_to(folder): path for path in _files(folder)} if folder.is_dir() else {}
    changed = []
    for name, path in present.items():
        if name not in wanted and name.as_posix() not in keep:
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


# -- what release wrote, and what it did not --------------------------------------------------------------------------


def _publish(new: Path, folder: Path, build: Path) -> ReleaseReport:
    """Make `folder` hold what `new` holds, and lose nothing that somebody made there."""
    name = folder.name
    wanted = {path.relative_to(new).as_posix(): path for path in _files(new)}
    present = {path.relative_to(folder).as_posix(): path for path in _files(folder)} if folder.is_dir() else {}
    written = _digests_written(folder)
    aside = {}
    foreign = [one for one in present if one not in wanted and one not in written]
    for one, path in present.items():
        if one in foreign or (one in wanted and path.read_bytes() == wanted[one].read_bytes()):
            continue  # it stays as it is
        if _digest(path) != written.get(one):
            aside[one] = _copied_aside(path, build / "set-aside" / name / one)
        elif path.parent == folder / RECORDINGS:
            kept = build / RECORDINGS / name / _digest(path)[:8] / path.name
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)
    changed = mirror(new, folder, keep=foreign)
    _written(folder).write_text(_sums(new), encoding="utf-8", newline="\n")
    return ReleaseReport(name, folder, folder, changed, foreign, aside)


def _written(folder: Path) -> Path:
    """The list of what the last release wrote into a folder, beside it, as `sha256sum` writes it."""
    return folder.with_name(f"{folder.name}.sha256")


def _digests_written(folder: Path) -> dict[str, str]:
    """Digests of the files that the last release wrote into a folder, by name; none where nobody knows."""
    pairs = [line.partition("  ") for line in _read(_written(folder)).splitlines()]
    return {name.removeprefix(f"{folder.name}/"): digest for digest, _, name in pairs}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _sums(folder: Path) -> str:
    lines = [f"{_digest(path)}  {folder.name}/{path.relative_to(folder).as_posix()}\n" for path in _files(folder)]
    return "".join(lines)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _copied_aside(path: Path, place: Path) -> Path:
    """Copy a file to this place, or, where another file lies there, to the next free name beside it."""
    free, number = place, 1
    while os.path.lexists(free) and not (free.is_file() and free.read_bytes() == path.read_bytes()):
        number += 1
        free = place.with_name(f"{place.stem}-{number}{place.suffix}")
    free.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, free)
    return free


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
        if _read(_written(released)) != _sums(folder):
            yield f"{_written(released)} does not list what the source gives: run `autograder release`."


def released_assignment(course: Course, name: str) -> Assignment:
    """What learners have of an assignment. Raises `CourseError` where it was not released."""
    folder = course.released / name
    if not (folder / SETTINGS).is_file():
        raise CourseError(f"{name} is not released yet: run `autograder release`.")
    return Assignment.read(folder)

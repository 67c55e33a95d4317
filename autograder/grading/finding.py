"""Paths → submissions: notebooks, folders of notebooks, nbgrader's `submitted/` tree, zips of either.

Nothing is extracted to disk by the names a zip gives, and links are not followed.
"""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from autograder.notebooks import LARGEST_FILE, Unreadable, read_file

NOTEBOOK = ".ipynb"
SUBMITTED = "submitted"  # nbgrader's folder: submitted/STUDENT/ASSIGNMENT/


class NothingFound(Exception):
    """A path is missing or holds no submission. The message is a sentence."""


@dataclass(frozen=True)
class Found:
    """One student's submission, not read yet. reason: why it cannot be graded, "" where it may be.

    path: the notebook; inside: its name within `path` where that is a zip.
    """

    student: str
    path: Path
    inside: str = ""
    reason: str = ""
    flags: Sequence[str] = field(default=())

    def read(self) -> bytes:
        """The notebook's bytes. Raises `Unreadable`."""
        if self.reason:
            raise Unreadable(self.reason)
        if not self.inside:
            return read_file(self.path)
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.inside) as file:
                data = file.read(LARGEST_FILE + 1)
        except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as problem:
            raise Unreadable(f"The file {self.inside} in {self.path.name} cannot be read: {problem}.") from None
        if len(data) > LARGEST_FILE:
            raise Unreadable(f"The file has more than {LARGEST_FILE >> 20} MB, which is the most that is read.")
        return data


@dataclass(frozen=True)
class _File:
    """A file below a path: the parts of its name there, and where its bytes are."""

    parts: tuple[str, ...]
    path: Path
    inside: str = ""

    @property
    def is_notebook(self) -> bool:
        return self.parts[-1].lower().endswith(NOTEBOOK) and not self.parts[-1].startswith("._")

    @property
    def stem(self) -> str:
        return self.parts[-1][: -len(NOTEBOOK)] if self.is_notebook else self.parts[-1]


def find(paths: Iterable[Path], assignment: str) -> list[Found]:
    """Every submission below the paths, one per student, in the order of their names. Raises `NothingFound`."""
    found: list[Found] = []
    for path in paths:
        here = list(_below(path, assignment))
        if not here:
            raise NothingFound(f"{path} holds no notebook ({NOTEBOOK}) of {assignment}.")
        found.extend(here)
    return list(_one_each(found, assignment))


def _below(path: Path, assignment: str) -> Iterator[Found]:
    if not path.exists() and not path.is_symlink():
        raise NothingFound(f"{path} does not exist. Check the path, and the folder you are in.")
    if path.is_dir():
        files = [
            _File(file.relative_to(path).parts, file)
            for file in sorted(path.rglob("*"))
            if file.is_symlink() or not file.is_dir()
        ]
        yield from _by_student(path, files, assignment, _folders(path))
    elif path.suffix.lower() == ".zip" or (path.suffix.lower() != NOTEBOOK and zipfile.is_zipfile(path)):
        try:
            with zipfile.ZipFile(path) as archive:
                names = [info.filename for info in archive.infolist() if not info.is_dir()]
        except (OSError, zipfile.BadZipFile) as problem:
            raise NothingFound(f"{path} is no readable zip: {problem}.") from None
        files = [_File(PurePosixPath(name).parts, path, name) for name in sorted(names) if PurePosixPath(name).parts]
        files = [file for file in files if file.parts[0] != "__MACOSX"]
        yield from _by_student(path, files, assignment, [])
    elif path.suffix.lower() == NOTEBOOK or path.is_symlink():
        yield _from_file(path, assignment)
    else:
        raise NothingFound(f"{path} is neither a notebook ({NOTEBOOK}), nor a folder, nor a zip.")


def _folders(path: Path) -> list[tuple[str, ...]]:
    return [
        folder.relative_to(path).parts
        for folder in sorted(path.rglob("*"))
        if folder.is_dir() and not folder.is_symlink()
    ]


def _from_file(path: Path, assignment: str) -> Found:
    """A single notebook; inside nbgrader's tree the student is the folder's name."""
    parts = path.resolve().parent.parts if not path.is_symlink() else path.absolute().parent.parts
    if len(parts) >= 3 and parts[-1] == assignment and parts[-3] == SUBMITTED:
        return Found(parts[-2], path)
    return Found(path.stem, path)


def _by_student(
    path: Path, files: Sequence[_File], assignment: str, folders: Sequence[tuple[str, ...]]
) -> Iterator[Found]:
    """STUDENT/ASSIGNMENT/ wherever it stands below the path; without any, each notebook is a student."""
    above = path.resolve().parts
    if len(above) >= 3 and above[-1] == assignment and above[-3] == SUBMITTED:  # one student's folder in the tree
        yield _of_student(above[-2], files, assignment)
        return
    tree: dict[str, list[_File]] = {}
    for parts in folders:
        if parts[-1] == assignment:  # kept where it is empty: the student shall have a row
            tree.setdefault(parts[-2] if len(parts) > 1 else path.stem, [])
    loose = []
    for file in files:
        if assignment in file.parts[:-1]:
            position = file.parts.index(assignment)
            tree.setdefault(file.parts[position - 1] if position else path.stem, []).append(file)
        elif file.is_notebook and not any(part.startswith(".") for part in file.parts[:-1]):
            loose.append(file)
    for student, own in tree.items():
        yield _of_student(student, own, assignment)
    for file in loose:
        if not tree or len(file.parts) == 1:
            yield Found(file.stem, file.path, file.inside)


def _of_student(student: str, files: Sequence[_File], assignment: str) -> Found:
    """The student's one notebook: the one named as released counts, and a flag names the others."""
    notebooks = [file for file in files if file.is_notebook and ".ipynb_checkpoints" not in file.parts]
    if not notebooks:
        return Found(student, Path(), reason="The student's folder holds no notebook.")
    named = [file for file in notebooks if file.stem == assignment]
    chosen = named[0] if named else notebooks[0]
    others = [file.parts[-1] for file in notebooks if file is not chosen]
    if others and not named:
        names = " and ".join(file.parts[-1] for file in notebooks)
        return Found(
            student, Path(), reason=f"The student handed in {names}, and neither is named {assignment}{NOTEBOOK}."
        )
    flags = [f"Another notebook was handed in and not graded: {', '.join(others)}."] if others else []
    return Found(student, chosen.path, chosen.inside, flags=flags)


def _one_each(found: Sequence[Found], assignment: str) -> Iterator[Found]:
    """One row per student. Two notebooks of one student, or two names a person cannot tell apart, end as ungradable."""
    students: dict[str, list[Found]] = {}
    for one in found:
        students.setdefault(unicodedata.normalize("NFC", one.student), []).append(one)
    for student in sorted(students):
        own = students[student]
        distinct = {(str(one.path.absolute()), one.inside): one for one in own}
        if len(distinct) == 1:
            yield Found(student, own[0].path, own[0].inside, own[0].reason, own[0].flags)
            continue
        names = " and ".join(str(one.path / one.inside if one.inside else one.path) for one in own)
        yield Found(student, Path(), reason=f"Two notebooks were handed in for this student: {names}.")

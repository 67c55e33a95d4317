"""Files in a folder, in a zip, and in a zip in either, read where they lie: nothing is extracted by a name it gives."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from autograder.notebooks import LARGEST_FILE, Unreadable, read_file

NOTEBOOK = ".ipynb"
ZIP = ".zip"
LONGEST_LIST = 1 << 20  # bytes: of some ten thousand files
_END, _END_64, _END_SIZE = (
    b"PK\x05\x06",
    b"PK\x06\x07",
    22,
)  # of the record at a zip's end, which says where its list is
_LONGEST_END = _END_SIZE + (1 << 16)
_AS_SAVED = (NOTEBOOK, f"{NOTEBOOK}.txt", f"{NOTEBOOK}.json")  # browsers add an ending of their own


def stem_of(name: str) -> str:
    """The name of a file without the ending of a notebook or of a zip."""
    ending = next((one for one in (*_AS_SAVED, ZIP) if name.lower().endswith(one)), "")
    return name[: len(name) - len(ending)]


@dataclass(frozen=True)
class File:
    """A file below a path: the parts of its name there, and where its bytes are.

    inside: its name within `path` where that is a zip; within: its name within `inside` where that is one.
    """

    parts: tuple[str, ...]
    path: Path
    inside: str = ""
    within: str = ""

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1]

    @property
    def stem(self) -> str:
        """The last part without its ending."""
        return stem_of(self.name)

    @property
    def is_notebook(self) -> bool:
        """By its name."""
        return self.name.lower().endswith(_AS_SAVED) and not self.name.startswith("._")

    @property
    def is_zip(self) -> bool:
        """By its name; a link is followed nowhere, and a zip in a zip in a zip is not opened."""
        if not self.name.lower().endswith(ZIP) or self.name.startswith("._") or self.within:
            return False
        return bool(self.inside) or (self.path.is_file() and not self.path.is_symlink())

    def notebooks(self) -> Sequence[File]:
        """The file where it is a notebook; those in it where it is a zip."""
        if self.is_notebook:
            return [self]
        if not self.is_zip:
            return []
        try:
            with io.BytesIO(read_bytes(self.path, self.inside)) if self.inside else self.path.open("rb") as file:
                names = zipfile.ZipFile(file).namelist() if _lists_few_files(file) else []
        except Exception:  # as in `read_bytes`
            return []
        here = [replace(self, parts=(*self.parts, *parts_of(name)), within=name) for name in sorted(names) if name]
        if not self.inside:
            here = [replace(file, inside=file.within, within="") for file in here]
        return [file for file in here if len(file.parts) > len(self.parts) and file.is_notebook and not _junk(file)]


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a name in a zip."""
    return PurePosixPath(name).parts


def _junk(file: File) -> bool:
    return any(part == "__MACOSX" or part.startswith(".") for part in file.parts[:-1])


def read_bytes(path: Path, inside: str = "", within: str = "") -> bytes:
    """The bytes of a `File`. Raises `Unreadable`."""
    if not inside:
        return read_file(path)
    try:
        data = _member(_archive(path), inside)
        if within:
            data = _member(zipfile.ZipFile(io.BytesIO(data)), within)
    except Unreadable:
        raise
    except Exception as problem:  # a stranger's bytes, and each way of packing them has exceptions of its own
        name = f"{within} in {inside}" if within else inside
        raise Unreadable(f"The file {name} in {path.name} cannot be read: {problem}.") from None
    return data


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise Unreadable(f"The file has more than {LARGEST_FILE >> 20} MB, which is the most that is read.")
    return data


def _lists_few_files(file: BinaryIO) -> bool:
    """Whether the list of files in a student's zip is as short as that of a zip that somebody made by hand."""
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - _LONGEST_END))
    end = file.read()
    places = {end.rfind(_END), len(end) - _END_SIZE}
    sizes = [
        int.from_bytes(end[place + 12 : place + 16], "little")
        for place in places
        if place >= 0 and end.startswith(_END, place)
    ]
    of_more_than_4_gb = any(end.startswith(_END_64, place - 20) for place in places if place >= 20)
    file.seek(0)
    return bool(sizes) and max(sizes) <= LONGEST_LIST and not of_more_than_4_gb


def names_in(path: Path) -> list[str]:
    """The names of the files in a zip. Raises `OSError` and `zipfile.BadZipFile`."""
    return [info.filename for info in _archive(path).infolist() if not info.is_dir()]


def files_in_zip(path: Path) -> list[File]:
    """The files in a zip. Raises `OSError` and `zipfile.BadZipFile`."""
    files = [File(parts_of(name), path, name) for name in sorted(names_in(path)) if parts_of(name)]
    return [file for file in files if file.parts[0] != "__MACOSX"]


def files_in_folder(path: Path) -> tuple[list[File], list[tuple[str, ...]]]:
    """The files and the folders below a folder, by the parts of their names there."""
    files, folders = [], []
    for here, below, names in os.walk(path):
        base = Path(here)
        parts = base.relative_to(path).parts
        for name in below:
            if (base / name).is_symlink():
                files.append(File((*parts, name), base / name))
            else:
                folders.append((*parts, name))
        files.extend(File((*parts, name), base / name) for name in names)
    return sorted(files, key=lambda file: file.parts), sorted(folders)


def _archive(path: Path) -> zipfile.ZipFile:
    """The zip, kept open: the table of its files is read once, not once for every student in it."""
    status = path.stat()
    return _opened(path, os.getpid(), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)
def _opened(path: Path, process: int, changed: int, size: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)

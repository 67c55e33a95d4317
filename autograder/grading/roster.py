"""Who is in the class: a table that the course's own system exports, or a plain list of students.

A row is a student. The student is named in results by the column that the system's grade import asks for; the other
columns that name people, and first and last name together, are names under which a submission may arrive.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# The first of these that the table has names the student: Canvas, Moodle, Gradescope, in the words of their exports.
_STUDENT_COLUMNS = (
    "sis login id", "username", "student", "student id", "sid", "id number", "email address", "email", "id", "name",
)  # fmt: skip
_OTHER_COLUMNS = ("full name", "identifier", "user", "login", "sis user id", "integration id", "student_id")
_FIRST, _LAST = ("first name", "firstname"), ("last name", "lastname", "surname")
_NO_STUDENT = ("points possible", "student, test")  # rows of Canvas's table that are nobody
_SEPARATORS = (",", ";", "\t")  # the first of those that are as frequent: a list of names has none
_QUOTED = re.compile(r'"[^"]*"')
_SAVE = 'In Excel choose File, Save As, "CSV UTF-8"; or export it from your course\'s system once more.'
_NUMBER_OF = re.compile(r"participant (\d+)")  # Moodle's column "Identifier"


class RosterError(Exception):
    """A roster cannot be read. The message is a sentence."""


def _plain(name: str) -> str:
    """A name as it is compared: case, accents' form and everything but letters and digits set aside."""
    return "".join(letter for letter in unicodedata.normalize("NFC", name).casefold() if letter.isalnum())


@dataclass(frozen=True)
class Roster:
    """students: as they are named in results, in the roster's order. others: their other names, compared plainly."""

    students: Sequence[str]
    others: Mapping[str, str]

    def student(self, name: str, number: str = "") -> str:
        """The student who is called so; the number is asked first. "" where nobody is, or two are."""
        if number and _plain(number) in self.others:
            return self.others[_plain(number)]
        return self.others.get(_plain(name), "")


def read_roster(path: Path) -> Roster:
    """Read a table of text, or a list with one student a line, with or without a header. Raises `RosterError`.

    Its columns are parted by commas, semicolons or tabs, whichever the first line has most of. It is UTF-8 or, with
    the mark that Excel puts before it, UTF-16.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig")
        first = next((line for line in text.splitlines() if line.strip()), "")
        separator = max(_SEPARATORS, key=_QUOTED.sub("", first).count)
        rows = list(csv.reader(text.splitlines(), strict=True, delimiter=separator))
        rows = [row for row in rows if any(cell.strip() for cell in row)]
    except OSError as problem:
        raise RosterError(f"The roster {path} cannot be read: {problem.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as problem:
        raise RosterError(f"The roster {path} is no table of text in UTF-8: {problem}. {_SAVE}") from None
    if "\0" in text:
        raise RosterError(f"The roster {path} is no table of text in UTF-8: it holds NUL characters. {_SAVE}")
    if not rows:
        raise RosterError(f"The roster {path} is empty.")
    header = [cell.strip().casefold() for cell in rows[0]]
    known = next((header.index(name) for name in _STUDENT_COLUMNS if name in header), None)
    if known is None and not any(name in header for name in (*_FIRST, *_LAST)):
        if max(map(len, rows)) > 1:
            raise RosterError(
                f"The roster {path} has several columns, and its first line names none that is known: it begins with "
                f"{rows[0][0].strip()}. Expected a column {', '.join(_STUDENT_COLUMNS[:3])} or {_STUDENT_COLUMNS[-3]}, "
                "or a list with one student a line. Put names with a comma in quotation marks."
            )
        header, body = [""], rows
    else:
        body = rows[1:]
    naming = {*_STUDENT_COLUMNS, *_OTHER_COLUMNS, ""}  # other columns hold sections and scores
    students: dict[str, None] = {}
    others: dict[str, set[str]] = {}
    for row in body:
        cells = [cell.strip() for cell in row]
        student = unicodedata.normalize("NFC", cells[known or 0]) if len(cells) > (known or 0) else ""
        if cells[0].casefold() in _NO_STUDENT or not student:
            continue
        students[student] = None
        for name in _names(header, cells, naming):
            others.setdefault(_plain(name), set()).add(student)
    if not students:
        raise RosterError(f"The roster {path} names no student.")
    unambiguous = {name: next(iter(who)) for name, who in others.items() if name and len(who) == 1}
    return Roster(tuple(students), unambiguous)


def _names(header: Sequence[str], cells: Sequence[str], naming: Collection[str]) -> Iterator[str]:
    named = dict(zip(header, cells, strict=False))
    first = next((named[name] for name in _FIRST if name in named), "")
    last = next((named[name] for name in _LAST if name in named), "")
    if first and last:
        yield f"{first} {last}"
        yield f"{last} {first}"
    for column, cell in zip(header, cells, strict=False):
        if column not in naming:
            continue
        yield cell
        match = _NUMBER_OF.fullmatch(cell.casefold())
        if match is not None:
            yield match[1]
        if "@" in cell:
            yield cell.partition("@")[0]
        surname, comma, rest = cell.partition(", ")
        if comma:
            yield f"{rest} {surname}"

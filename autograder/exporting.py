"""Grades for other systems: `grades.csv` itself, and what Canvas, Moodle and Gradescope read.

- Canvas reads a gradebook as it exports one: the columns Student, ID, SIS User ID, SIS Login ID and Section, then one
  per assignment, and a second row "Points Possible". It finds a student by ID, SIS User ID, SIS Login ID or name, and
  an assignment by its title, or by its number where the column is called "Title (number)". A blank cell clears a
  grade.
- Moodle reads any columns; while importing, the instructor says which one names the user (user name, ID number or
  email) and which grade item each other column is. A row whose user is unknown refuses the whole file.
- An assignment of Moodle's also reads its grading worksheet, which names a participant by the number that stands in
  the names of what Moodle handed out: the columns Identifier, Grade and "Last modified (grade)". A grade that is
  newer there stays, unless the instructor ticks that it may be overwritten.
- Gradescope reads one `results.json` per submission, as its autograder specification describes it.

So only graded submissions leave for Canvas, Moodle and Gradescope: nothing there says "not graded" without touching a
grade that already stands. What was left out is told.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, get_args
from urllib.parse import quote

from autograder.language import _, count
from autograder.results import SubmissionResult

ChapterLink = Callable[[str], "tuple[str, str]"]

FIRST_COLUMNS = ("student", "status", "score", "max_score")
LAST_COLUMNS = ("flags", "reason")
Target = Literal["csv", "canvas", "moodle", "gradescope"]

# A spreadsheet runs a cell that begins like this, also after spaces; a leading apostrophe makes it text.
_FORMULA = re.compile(r"^\s*[=+\-@\t\r＝＋－＠]|^[\t\r]")
_NUMBER = re.compile(r"^[+-]?\d+(\.\d+)?$")

# What stands in a text for bytes of a file name that are no UTF-8. No encoding has it.
_NO_CHARACTER = re.compile("[\ud800-\udfff]")


class ExportError(Exception):
    """Grades cannot be exported; the message is a sentence for the instructor."""


@dataclass(frozen=True)
class Exported:
    """What an export wrote. left_out: the students who are not in it; why: what all of them lack."""

    path: Path
    students: int
    left_out: tuple[str, ...] = ()
    why: str = _("they have no score")

    def __str__(self) -> str:
        """What happened, for the instructor."""
        wrote = _("Wrote {students} to {path}.").format(
            students=count(self.students, "{number} student", "{number} students"), path=self.path
        )
        if not self.left_out:
            return wrote
        names = ", ".join(self.left_out[:10]) + (", …" if len(self.left_out) > 10 else "")
        left_out = _("Left out, because {why}: {students}.").format(why=self.why, students=names)
        return f"{wrote} {left_out}"


def defused(cell: str) -> str:
    """The cell, made text where a spreadsheet would run it as a formula. Numbers stay numbers."""
    return "'" + cell if _FORMULA.match(cell) and not _NUMBER.match(cell) else cell


def as_cell(text: str) -> str:
    """The text as it stands in a table of ours, when that is read again."""
    # A lone carriage return is left unquoted by some versions of Python, and ends a row for most readers.
    return defused(readable(text)).replace("\r\n", "\n").replace("\r", "\n")


def readable(text: str) -> str:
    """The text with an escape, such as `\\udcff`, for each byte of a file name that is no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def member_name(name: str) -> str:
    """The name of a file in a zip: as it is, with an escape as in web addresses for what is no character."""
    return _NO_CHARACTER.sub(lambda found: quote(found.group(), errors="surrogatepass"), name)


def results_json(results: Mapping[str, Any]) -> str:
    """The text of a `results.json`. Half a character, which many readers refuse, stands as its escape in letters."""
    text = json.dumps(results, ensure_ascii=False, indent=1)
    return _NO_CHARACTER.sub(lambda found: f"\\\\u{ord(found.group()):04x}", text)


def _points(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def csv_row(result: SubmissionResult, exercise_names: Sequence[str]) -> dict[str, str]:
    """A submission as a row of `grades.csv`; cells are empty where there is no score."""
    scores = {exercise.name: exercise.score for exercise in result.exercises} if result.status == "graded" else {}
    return {
        "student": result.student,
        "status": result.status,
        "score": _points(result.score if result.status == "graded" else None),
        "max_score": _points(result.max_score),
        **{name: _points(scores.get(name)) for name in exercise_names},
        "flags": "; ".join(result.flags),
        "reason": result.reason or "",
    }


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that is there when everything is written, and else as it was before. Raises `ExportError`."""
    beside = path.with_name(f".writing-{os.getpid()}-{path.name}")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(path)
    except OSError as problem:
        raise ExportError(
            _("Cannot write {path}: {problem}. Choose a folder that exists and that you may write to.").format(
                path=path, problem=problem.strerror
            )
        ) from problem
    finally:
        beside.unlink(missing_ok=True)


def _write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A CSV file of defused cells, in UTF-8, written whole."""
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        for row in chain([header], rows):
            writer.writerow([as_cell(cell) for cell in row])
        text.flush()
        text.detach()


def write_grades_csv(rows: Iterable[Mapping[str, str]], path: Path) -> None:
    """Write `grades.csv` whole; the columns are those of the first row. Raises `ExportError`."""
    remaining = iter(rows)
    first = next(remaining, None)
    header = list(first) if first is not None else [*FIRST_COLUMNS, *LAST_COLUMNS]

    def cells() -> Iterator[list[str]]:
        if first is not None:
            yield [first[column] for column in header]
        for row in remaining:
            yield [row.get(column, "") for column in header]

    _write_table(path, header, cells())


def read_grades_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a `grades.csv`. Raises `ExportError` where the file is missing or is not one."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [{str(key): value or "" for key, value in row.items() if key is not None} for row in reader]
            header = reader.fieldnames or []
    except OSError as problem:
        raise ExportError(
            _("Cannot read {path}: {problem}. Run `autograder grade` into this folder first.").format(
                path=path, problem=problem.strerror
            )
        ) from problem
    except (UnicodeDecodeError, csv.Error) as problem:
        raise ExportError(
            _("{path} is not a table of grades: {problem}. Grade again to rebuild it.").format(
                path=path, problem=problem
            )
        ) from problem
    _require_columns(header)
    return rows


def _require_columns(header: Iterable[str]) -> None:
    known = set(header)
    missing = [column for column in (*FIRST_COLUMNS, *LAST_COLUMNS) if column not in known]
    if missing:
        raise ExportError(
            _("Expected a table of grades; the columns {columns} are missing. Grade again to rebuild it.").format(
                columns=", ".join(missing)
            )
        )


def _exercises(row: Mapping[str, str]) -> list[str]:
    return [column for column in row if column not in FIRST_COLUMNS and column not in LAST_COLUMNS]


Numbers = Mapping[str, str]  # what a system calls a student by


def _write_csv(rows: Sequence[Mapping[str, str]], path: Path, title: str, numbers: Numbers) -> None:
    write_grades_csv(rows, path)


def _write_canvas(rows: Sequence[Mapping[str, str]], path: Path, title: str, numbers: Numbers) -> None:
    worth = next((row["max_score"] for row in rows), "")
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    students = ([row["student"], numbers.get(row["student"], ""), "", row["student"], "", row["score"]] for row in rows)
    _write_table(path, header, [["    Points Possible", "", "", "", "", worth], *students])


def write_moodle_worksheet(rows: Iterable[Mapping[str, str]], path: Path, numbers: Numbers) -> int:
    """The grading worksheet of an assignment of Moodle's. Returns for how many. Raises `ExportError`."""
    graded = [row for row in rows if row["student"] in numbers and row["status"] == "graded"]
    header = ["Identifier", "Full name", "Grade", "Last modified (grade)"]
    _write_table(
        path, header, ([f"Participant {numbers[row['student']]}", row["student"], row["score"], ""] for row in graded)
    )
    return len(graded)


def _write_moodle(rows: Sequence[Mapping[str, str]], path: Path, title: str, numbers: Numbers) -> None:
    names = _exercises(rows[0]) if rows else []
    header = ["Username", title, *(f"{title}: {name}" for name in names)]
    _write_table(path, header, ([row["student"], row["score"], *(row[name] for name in names)] for row in rows))


def folder_name(student: str) -> str:
    """The student as a folder in an archive: one part of a path, which no student can make another's or a parent's."""
    safe = quote(student, safe=" ()+,-=@[]_{}~", errors="surrogatepass")
    return "%2E" + safe[1:] if safe.startswith(".") else safe or "%00"


def _write_gradescope(rows: Sequence[Mapping[str, str]], path: Path, title: str, numbers: Numbers) -> None:
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for row in rows:
            results: dict[str, Any] = {
                "score": float(row["score"]),
                "output": _("{title}: {earned} of {worth} points.").format(
                    title=title, earned=row["score"], worth=row["max_score"]
                ),
                "output_format": "text",
                "visibility": "visible",
                "extra_data": {"student": row["student"], "max_score": row["max_score"], "flags": row["flags"]},
                "tests": [
                    {"name": name, "name_format": "text", "score": float(row[name]), "number": str(number)}
                    for number, name in enumerate(_exercises(row), 1)
                    if row[name]
                ],
            }
            member = zipfile.ZipInfo(f"{folder_name(row['student'])}/results.json")
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, results_json(results))


_WRITERS: Mapping[str, Callable[[Sequence[Mapping[str, str]], Path, str, Numbers], None]] = {
    "csv": _write_csv,
    "canvas": _write_canvas,
    "moodle": _write_moodle,
    "gradescope": _write_gradescope,
}


def export(
    rows: Iterable[Mapping[str, str]],
    to: str,
    destination: Path,
    *,
    title: str = "",
    numbers: Numbers | None = None,
) -> Exported:
    """Write grades for another system. Raises `ExportError`.

    rows: those of `grades.csv`. destination: the file to write, or the folder for `export-TARGET.csv` (or `.zip`).
    title: the assignment as that system calls it; for Canvas "Title (number)" is surest. numbers: what the system
    calls students by, where that is known.
    """
    if to not in _WRITERS:
        raise ExportError(
            _("There is no export to {target}. Choose one of {targets}.").format(
                target=to, targets=", ".join(get_args(Target))
            )
        )
    kept: list[Mapping[str, str]] = []
    left_out: list[str] = []
    try:
        for found in rows:
            row = {key: value or "" for key, value in found.items() if key is not None}
            if not kept and not left_out:
                _require_columns(row)
            if to != "csv" and (row["status"] != "graded" or not _NUMBER.match(row["score"])):
                left_out.append(row["student"])
            else:
                kept.append(row)
    except (UnicodeDecodeError, csv.Error) as problem:
        raise ExportError(
            _("This is not a table of grades: {problem}. Grade again to rebuild it.").format(problem=problem)
        ) from problem
    if not kept:
        raise ExportError(_("There is nothing to export: no submission has a score."))
    path = (
        destination / f"export-{to}{'.zip' if to == 'gradescope' else '.csv'}" if destination.is_dir() else destination
    )
    _WRITERS[to](kept, path, title or _("Assignment"), numbers or {})
    return Exported(path, len(kept), tuple(left_out))


def gradescope_results(
    result: SubmissionResult, *, visibility: str = "visible", chapter_link: ChapterLink | None = None
) -> dict[str, Any]:
    """One submission as Gradescope's `results.json`, for an autograder that runs there: one test per rule.

    result: with those flags alone that its student may read. visibility: when students see it, in Gradescope's words.
    chapter_link: as for the panel.

    A submission without a score has no tests and says why at once: Gradescope then waits for the instructor instead of
    a zero, and whoever handed in the wrong file can hand in another.
    """
    if result.status != "graded" or result.score is None:
        return {
            "output": result.reason or _("This submission could not be graded."),
            "output_format": "text",
            "visibility": "visible",
            "tests": [],
        }
    tests: list[dict[str, Any]] = []
    for i, exercise in enumerate(result.exercises, 1):
        for j, check in enumerate(exercise.checks, 1):
            output = [check.message]
            if check.status != "passed":
                output = [check.says, check.message, check.hint, check.narrows, _reread(check.chapter, chapter_link)]
            tests.append(
                {
                    "name": _("{exercise}: {rule}").format(exercise=exercise.name, rule=check.rule or check.name),
                    "name_format": "text",
                    "number": f"{i}.{j}",
                    "score": check.points if check.status == "passed" else 0.0,
                    "max_score": check.points,
                    "status": "passed" if check.status == "passed" else "failed",
                    "output": "\n\n".join(part for part in output if part),
                    "output_format": "text",
                    "visibility": visibility,
                    "tags": [exercise.name, check.stage],
                }
            )
    points = _("{earned} of {worth} points.").format(earned=_points(result.score), worth=_points(result.max_score))
    return {
        "score": result.score,
        "execution_time": round(result.seconds, 2),
        "output": "\n\n".join([points, *result.flags]),
        "output_format": "text",
        "visibility": visibility,
        "stdout_visibility": "hidden",
        "extra_data": {"seed": result.seed, "sha256": result.sha256, "isolation": result.isolation},
        "tests": tests,
    }


def _reread(chapter: str, chapter_link: ChapterLink | None) -> str:
    if not chapter or chapter_link is None:
        return ""
    title, url = chapter_link(chapter)
    return (
        _("Reread {chapter}: {url}").format(chapter=title, url=url)
        if url
        else _("Reread {chapter}.").format(chapter=title)
    )

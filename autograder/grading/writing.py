"""What grading leaves in its folder: a JSON and a page per student, and `grades.csv`. Whole or not at all."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from autograder.course import Assignment
from autograder.exporting import as_cell, csv_row, read_grades_csv, write_grades_csv
from autograder.grading.likeness import for_the_student
from autograder.pages.feedback import feedback_html
from autograder.results import ExerciseResult, SubmissionResult, passed, total

# What some file system refuses: its special characters, a point or blank at either end, half a character; and a
# percent sign that would read as an escape.
_UNFIT = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]|^[. ]|[. ]$|%(?=[0-9A-Fa-f]{2})')
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
UNFINISHED = ".writing-"  # begins the name of a file that is not yet whole
MOST_KEPT = 1024  # exercises as they were written: many students of a class get the same words
MOST_NAMED = 10  # files that are left out
_SHORTENED = re.compile(r"-[0-9a-f]{16}$")  # how a name ends that was too long
LONGEST_NAME = 180  # bytes, so that the name and its ending fit every file system


def file_name(student: str) -> str:
    """The student's name as a file name: escaped where it must be, as in web addresses, and never another student's."""
    text = _UNFIT.sub(_escape, student)
    if not text or _RESERVED.match(text):
        text = _escape(text[:1] or "\0") + text[1:]
    size = len(text.encode())
    if size > LONGEST_NAME or (size > LONGEST_NAME - 4 and _SHORTENED.search(text)):
        digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        text = text.encode()[: LONGEST_NAME - 17].decode("utf-8", "ignore") + "-" + digest
    return text


def _escape(found: str | re.Match[str]) -> str:
    text = found if isinstance(found, str) else found.group()
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def clear_leftovers(folder: Path) -> None:
    """Remove what a run that was killed had begun to write into a results folder. Nobody else may write there."""
    for place in (folder, folder / "students"):
        for path in place.glob(f"{UNFINISHED}*"):
            path.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write beside, then move into place: a reader sees the old file or the new one, never half of one."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_result(result: SubmissionResult, assignment: Assignment, folder: Path) -> None:
    """Write the student's page and JSON."""
    write_texts(folder, result.student, *texts_of(result, assignment))


def texts_of(result: SubmissionResult, assignment: Assignment) -> tuple[str, str]:
    """The student's page as HTML, and the JSON."""
    shown = replace(result, flags=for_the_student(result.flags))
    page = feedback_html(shown, chapter_link=assignment.chapter_link, title=assignment.title)
    return page, json_text(result)


def write_texts(folder: Path, student: str, page: str, text: str) -> None:
    """Write the page, then the JSON: where the JSON stands, the student is done."""
    students = folder / "students"
    students.mkdir(parents=True, exist_ok=True)
    name = file_name(student)
    write_whole(students / f"{name}.html", page)
    write_whole(students / f"{name}.json", text)


def json_text(result: SubmissionResult) -> str:
    """The contract's JSON object, a line for each exercise. One and the same exercise's line is made once."""
    lines = []
    for key, value in replace(result, exercises=()).as_json().items():
        if key == "exercises":
            text = ",\n  ".join(_exercise_text(exercise) for exercise in result.exercises)
            lines.append(f' "exercises": [\n  {text}\n ]' if text else ' "exercises": []')
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


_texts: dict[int, tuple[ExerciseResult, str]] = {}


def _exercise_text(exercise: ExerciseResult) -> str:
    known = _texts.get(id(exercise))
    if known is not None and known[0] is exercise:
        return known[1]
    if len(_texts) >= MOST_KEPT:
        del _texts[next(iter(_texts))]
    text = json.dumps(asdict(exercise), ensure_ascii=False)
    _texts[id(exercise)] = (exercise, text)
    return text


def from_json(table: Any) -> SubmissionResult:
    """The result that `as_json` wrote. Raises ValueError where a value is of another kind, or a sum is another."""
    result = cast(SubmissionResult, _reader(SubmissionResult)(table))
    if (result.score is None) is (result.status == "graded"):
        raise ValueError("score")
    if result.score is not None and result.score != total(result.exercises):
        raise ValueError("the score is not the sum over the exercises")
    for exercise in result.exercises:
        if exercise.checks and exercise.score != passed(exercise.checks):
            raise ValueError("an exercise's score is not the sum over its passed checks")
    return result


Reader = Callable[[Any], Any]


@cache
def _reader(kind: Any) -> Reader:
    """What makes a value of this kind, as `results` declares it, from JSON. It raises ValueError."""
    if is_dataclass(kind):
        return _record_reader(cast(type, kind))
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _one_of(lambda value: isinstance(value, str) and value in arguments)
    if origin in (Union, UnionType):
        (inner,) = (_reader(one) for one in arguments if one is not NoneType)
        return lambda value: None if value is None else inner(value)
    if origin is Sequence:
        entry = _reader(arguments[0])
        return lambda value: tuple(map(entry, _list(value)))
    if origin is Mapping:
        entry = _reader(arguments[1])
        return lambda value: {name: entry(one) for name, one in _table(value).items()}
    if kind is float:
        return _one_of(lambda value: type(value) in (int, float) and abs(value) < math.inf)
    return _one_of(lambda value: kind is Any or type(value) is kind)


def _record_reader(kind: type) -> Reader:
    hints = get_type_hints(kind)
    readers = {name: _reader(hint) for name, hint in hints.items()}
    plain = {name: _plain(hint) for name, hint in hints.items()}

    def read(value: Any) -> Any:
        try:
            made = {
                name: one if type(one) in plain[name] else readers[name](one) for name, one in _table(value).items()
            }
            return kind(**made)
        except (KeyError, TypeError) as problem:  # a field too many, or too few
            raise ValueError(str(problem)) from None

    return read


def _plain(kind: Any) -> frozenset[type]:
    """Types whose values are taken as they are: most of them, so that a class of thousands is read in seconds."""
    if get_origin(kind) in (Union, UnionType):
        return frozenset().union(*map(_plain, get_args(kind)))
    return frozenset({kind} & {str, int, bool, NoneType}) if isinstance(kind, type) else frozenset()


def _one_of(fits: Callable[[Any], bool]) -> Reader:
    def read(value: Any) -> Any:
        if not fits(value):
            raise ValueError(repr(value))
        return value

    return read


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(repr(value))
    return value


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(repr(value))
    return value


def read_result(path: Path) -> SubmissionResult | None:
    """A student's JSON; None where it is no whole result of ours, such as one that somebody edited or renamed."""
    try:
        result = from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    return result if path.name == f"{file_name(result.student)}.json" else None


def read_results(folder: Path) -> Iterator[SubmissionResult]:
    """Every student's result in the folder, in the order of the file names. In the end says what was left out."""
    left_out = []
    for path in sorted((folder / "students").glob("*.json")):
        result = read_result(path)
        if result is None:
            left_out.append(path.name)
        else:
            yield result
    if left_out:
        names = ", ".join(left_out[:MOST_NAMED]) + (", …" if len(left_out) > MOST_NAMED else "")
        print(
            f"autograder: left out, because they are no results as grading wrote them: {names}, in {folder}/students. "
            "Grade these students again, or remove the files.",
            file=sys.stderr,
        )


def read_rows(folder: Path) -> list[dict[str, str]]:
    """The rows of the folder's `grades.csv`, with the students' names as they are, not as a table must have them.

    Raises `ExportError`.
    """
    rows = read_grades_csv(folder / "grades.csv")
    students = folder / "students"
    if all((students / f"{file_name(row['student'])}.json").exists() for row in rows):
        return rows
    results = (read_result(path) for path in sorted(students.glob("*.json")))
    names = {as_cell(result.student): result.student for result in results if result is not None}
    return [{**row, "student": names.get(row["student"], row["student"])} for row in rows]


def write_csv(folder: Path, assignment: Assignment) -> None:
    """Build `grades.csv` from all students' results in the folder. Of each, a name and a place are held in memory."""
    names = list(assignment.by_name)
    places: list[tuple[str, int]] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogatepass") as rows:
        for result in read_results(folder):
            places.append((result.student, rows.tell()))
            rows.write(json.dumps(csv_row(result, names)) + "\n")
        places.sort()

        def in_order() -> Iterator[dict[str, str]]:
            for _student, place in places:
                rows.seek(place)
                yield json.loads(rows.readline())

        write_grades_csv(in_order(), folder / "grades.csv")

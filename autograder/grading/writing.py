"""What grading leaves in its folder: a JSON and a page per student, and `grades.csv`. Whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from autograder.course import Assignment
from autograder.exporting import csv_row, write_grades_csv
from autograder.grading.likeness import for_the_student
from autograder.pages.feedback import feedback_html
from autograder.results import CheckResult, ExerciseResult, Move, SubmissionResult

# What some file system refuses: its special characters, a point or blank at either end, half a character; and a
# percent sign that would read as an escape.
_UNFIT = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]|^[. ]|[. ]$|%(?=[0-9A-Fa-f]{2})')
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
UNFINISHED = ".writing-"  # begins the name of a file that is not yet whole
MOST_KEPT = 1024  # exercises as they were written: many students of a class get the same words
LONGEST_NAME = 180  # bytes, so that the name and its ending fit every file system


def file_name(student: str) -> str:
    """The student's name as a file name: escaped where it must be, as in web addresses, and never another student's."""
    text = _UNFIT.sub(_escape, student)
    if not text or _RESERVED.match(text):
        text = _escape(text[:1] or "\0") + text[1:]
    size = len(text.encode())
    if size > LONGEST_NAME:
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


def from_json(table: dict[str, Any]) -> SubmissionResult:
    """The result that `as_json` wrote."""
    exercises = tuple(
        ExerciseResult(**{**entry, "checks": tuple(CheckResult(**check) for check in entry["checks"])})
        for entry in table["exercises"]
    )
    moved = tuple(Move(**{**move, "why": tuple(move["why"])}) for move in table.get("moved", ()))
    return SubmissionResult(**{**table, "exercises": exercises, "flags": tuple(table["flags"]), "moved": moved})


def read_result(path: Path) -> SubmissionResult | None:
    """A student's JSON; None where it is no whole result of ours."""
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def read_results(folder: Path) -> Iterator[SubmissionResult]:
    """Every student's result in the folder, in the order of the file names."""
    for path in sorted((folder / "students").glob("*.json")):
        result = read_result(path)
        if result is not None:
            yield result


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

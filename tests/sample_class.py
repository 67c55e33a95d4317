"""A sample class: a dozen submissions made from an assignment's banks, and two that are broken.

python tests/sample_class.py FOLDER              FOLDER/sample-01.ipynb, ...
python tests/sample_class.py FOLDER --nbgrader   FOLDER/sample-01/ASSIGNMENT/ASSIGNMENT.ipynb, ... (a submitted/ folder)
"""

from __future__ import annotations

import argparse
import copy
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder import solved
from autograder.course import Course, Source

BROKEN = ("sample-13", "sample-14")
UNTOUCHED = "sample-02"
FULL_MARKS = ("sample-01", "sample-04", "sample-05")

Notebook = dict[str, Any]


def solved_answers(source: Source) -> dict[str, str]:
    """The reference's answer cells by exercise."""
    return {
        cell.grade_id: cell.source
        for cell in solved.read_solved(source).cells
        if cell.grade_id in source.assignment.by_name
    }


def released_notebook(course: Course, source: Source) -> Notebook:
    """The notebook as learners get it."""
    name = source.assignment.name
    return dict(json.loads((course.released / name / f"{name}.ipynb").read_text(encoding="utf-8")))


def with_answers(notebook: Notebook, answers: Mapping[str, str]) -> Notebook:
    """A copy with these answers in their cells."""
    filled = copy.deepcopy(notebook)
    for cell in filled["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in answers:
            cell["source"] = answers[grade_id]
    return filled


def without_metadata(notebook: Notebook) -> Notebook:
    """As some editors save it: nbgrader's metadata are gone."""
    bare = copy.deepcopy(notebook)
    for cell in bare["cells"]:
        cell["metadata"] = {}
    return bare


def answers_of_the_class(source: Source) -> Iterator[tuple[str, dict[str, str]]]:
    """Students and their answers by exercise; an exercise left out is untouched."""
    names = list(source.assignment.by_name)
    reference = solved_answers(source)
    wrong, right = banks(source)

    def unusual(turn: int) -> dict[str, str]:
        return {name: right[name][turn % len(right[name])] if right[name] else reference[name] for name in names}

    yield "sample-01", reference
    yield "sample-02", {}
    yield "sample-03", {name: reference[name] for name in names[: (len(names) + 1) // 2]}
    yield "sample-04", unusual(0)
    yield "sample-05", unusual(1)
    for turn in range(6):  # each of them has some exercises wrong
        answers = dict(reference)
        for position, name in enumerate(names):
            if wrong[name] and (turn + position) % 3 == 0:
                answers[name] = wrong[name][(5 * turn + position) % len(wrong[name])]
        yield f"sample-{turn + 6:02}", answers
    yield "sample-12", {name: wrong[name][-1] for name in names[1:] if wrong[name]}


def build(course: Course, folder: Path, name: str | None = None, *, nbgrader: bool = False) -> list[str]:
    """Write the class into `folder`; returns the students. nbgrader: as the tree of its `submitted/` folder."""
    source = course.source(name)
    name = source.assignment.name
    released = released_notebook(course, source)
    files: dict[str, bytes] = {}
    for student, answers in answers_of_the_class(source):
        notebook = with_answers(released, answers)
        if student == "sample-05":
            notebook = without_metadata(notebook)
        files[student] = json.dumps(notebook, indent=1).encode()
    files["sample-13"] = files["sample-01"][: len(files["sample-01"]) // 2]  # an upload that was cut off
    files["sample-14"] = (
        b"<!DOCTYPE html>\n<html><head><title>Log in</title></head><body>Please log in.</body></html>\n"
    )
    for student, data in files.items():
        path = folder / student / name / f"{name}.ipynb" if nbgrader else folder / f"{student}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return sorted(files)


def banks(source: Source) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The wrong and the right answers by exercise."""
    wrong, right = (
        {name: [one.code for one in bank if one.exercise == name] for name in source.assignment.by_name}
        for bank in (source.wrong, source.right)
    )
    return wrong, right


def numbered(source: Source, count: int) -> Iterator[tuple[str, dict[str, str]]]:
    """A class of any size, drawn from the banks: the same number is the same student.

    A third has nothing wrong, a third some, a third much; one in ten stopped somewhere. Each answer has a comment of
    its own, so that no two files are equal.
    """
    reference = solved_answers(source)
    wrong, right = banks(source)
    for number in range(count):
        draw = random.Random(number)
        faults = draw.choice((0.0, 0.1, 0.3))
        reached = draw.randrange(len(reference)) if draw.random() < 0.1 else len(reference)
        answers = {}
        for name in list(reference)[:reached]:
            code = reference[name]
            if wrong[name] and draw.random() < faults:
                code = draw.choice(wrong[name])
            elif right[name] and draw.random() < 0.25:
                code = draw.choice(right[name])
            answers[name] = f"{code}\n# {number}\n"
        yield f"s{number:05}", answers


def many(source: Source, folder: Path, count: int) -> Path:
    """A class of this size in a new folder, and a file that is no notebook."""
    solution = json.loads(json.dumps(solved.solved_notebook(source)))
    folder.mkdir()
    for student, answers in numbered(source, count):
        (folder / f"{student}.ipynb").write_text(json.dumps(with_answers(solution, answers)), encoding="utf-8")
    (folder / "broken.ipynb").write_text("<html>Log in</html>", encoding="utf-8")
    return folder


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a sample class.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--assignment")
    parser.add_argument("--nbgrader", action="store_true", help="as nbgrader's submitted/ folder")
    options = parser.parse_args()
    course = Course.find(Path(__file__).resolve().parents[1])
    students = build(course, options.folder, options.assignment, nbgrader=options.nbgrader)
    print(f"{options.folder} holds {len(students)} submissions; {' and '.join(BROKEN)} are broken on purpose.")


if __name__ == "__main__":
    main()

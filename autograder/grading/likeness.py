"""Submissions whose answers are equal, found in one pass before anything is graded.

So what is found depends on what was handed in alone, not on workers, or on what was graded before. It is a flag for the
instructor: people who worked together, or copied, or both had it from elsewhere. It changes no score.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder import notebooks
from autograder.course import Assignment
from autograder.grading.finding import Found
from autograder.language import _
from autograder.notebooks import Cell, Unreadable

FEWEST_EXERCISES = 3  # of a short answer there are not many versions: equal by itself says nothing
FEWEST_CHARACTERS = 400
MOST_NAMED = 12


def flag_equal(found: Sequence[Found], assignment: Assignment, stubs: Sequence[Cell]) -> list[Found]:
    """The same submissions, in their order, those with equal answers flagged. stubs: the untouched notebook's cells."""
    untouched = answers(stubs)
    alike: dict[str, list[str]] = {}
    marks: list[str] = []
    for one in found:
        mark = _mark(one, assignment, untouched)
        marks.append(mark)
        if mark:
            alike.setdefault(mark, []).append(one.student)
    return [_flagged(one, alike.get(mark, [])) for one, mark in zip(found, marks, strict=True)]


def for_the_student(flags: Sequence[str]) -> tuple[str, ...]:
    """The flags that a student may read: none that names another."""
    naming = _("The answers equal those of {names}.").partition("{")[0]
    return tuple(flag for flag in flags if not flag.startswith(naming))


def answers(cells: Sequence[Cell]) -> dict[str, str]:
    """Code of each exercise, comments and layout aside."""
    texts: dict[str, list[str]] = {}
    for cell in cells:
        for exercise in cell.exercises:
            texts.setdefault(exercise, []).append(notebooks.without_layout(cell.source))
    return {exercise: "\n".join(parts) for exercise, parts in texts.items()}


def _mark(one: Found, assignment: Assignment, untouched: Mapping[str, str]) -> str:
    """What equal submissions have in common; "" where there is too little to be told apart by."""
    try:
        cells = notebooks.read(one.read(), assignment).cells
    except (Unreadable, RecursionError, MemoryError):
        return ""
    own = {name: text for name, text in answers(cells).items() if text.strip() and text != untouched.get(name)}
    text = "\n\n".join(f"{name}\n{own[name]}" for name in sorted(own))
    if len(own) < min(FEWEST_EXERCISES, len(assignment.exercises)) or len(text) < FEWEST_CHARACTERS:
        return ""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _flagged(one: Found, students: Sequence[str]) -> Found:
    others = sorted(student for student in students if student != one.student)
    if not others:
        return one
    names = ", ".join(others[:MOST_NAMED])
    if len(others) > MOST_NAMED:
        flag = _("The answers equal those of {names} and {count} more.").format(
            names=names, count=len(others) - MOST_NAMED
        )
    else:
        flag = _("The answers equal those of {names}.").format(names=names)
    return replace(one, flags=(*one.flags, flag))

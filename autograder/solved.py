"""The solved notebook: the one source, from Jupytext's percent format to notebook cells."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from autograder import notebooks
from autograder.course import CourseError, Source
from autograder.notebooks import Cell, Submission

# jsonschema, which comes along, would build a grammar of web addresses first: seconds of every process that grades, for
# a check of what no notebook has. It does without where that module cannot be imported.
_GRAMMAR = "rfc3987_syntax"
if _GRAMMAR in sys.modules:
    import jupytext
    import nbformat
else:
    sys.modules[_GRAMMAR] = None  # type: ignore[assignment]
    try:
        import jupytext
        import nbformat
    finally:
        del sys.modules[_GRAMMAR]

CHAPTER = re.compile(r"\{\{chapter:([\w-]+)\}\}")
FACT = re.compile(r"\{\{(exercises|points|minutes|seconds)\}\}")  # as the instructor's choices leave the assignment


def solved_notebook(source: Source) -> Any:
    """The source as an nbformat notebook: fixed cell ids, chapters' titles in their places. Raises `CourseError`."""
    try:
        notebook = jupytext.read(source.notebook, fmt="py:percent")
    except OSError as problem:
        raise CourseError(f"The solved notebook {source.notebook} cannot be read: {problem.strerror}.") from problem
    _follow_choices(source, notebook)
    seen: set[str] = set()
    for position, cell in enumerate(notebook.cells):
        name = cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell-{position}"
        if name in seen:
            raise CourseError(f"{source.notebook.name} has two cells named {name}.")
        seen.add(name)
        cell.id = re.sub(r"[^a-zA-Z0-9_-]", "-", name)[:64]
        if cell.cell_type == "markdown":
            cell.source = CHAPTER.sub(lambda match: _chapter(source, match.group(1)), cell.source)
            cell.source = FACT.sub(lambda match: _fact(source, match.group(1)), cell.source)
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _follow_choices(source: Source, notebook: Any) -> None:
    """Cells of exercises that are left out go, and the points are those that the instructor chose."""
    assignment = source.assignment
    gone = {f"{prefix}{name}" for name in assignment.choices.leave_out for prefix in ("", "about-", "check-")}
    kept = []
    for cell in notebook.cells:
        settings = cell.metadata.get("nbgrader", {})
        name = settings.get("grade_id", "")
        if name in gone:
            continue
        exercise = name.removeprefix("check-")
        if settings.get("grade") and exercise in assignment.choices.points and exercise in assignment.by_name:
            points = assignment.by_name[exercise].points
            settings["points"] = int(points) if points.is_integer() else points
        kept.append(cell)
    notebook.cells = kept


def _chapter(source: Source, slug: str) -> str:
    if slug not in source.assignment.chapters:
        raise CourseError(f"{source.notebook.name} names the chapter {slug}, which assignment.toml lacks.")
    title, link = source.assignment.chapter_link(slug)
    return f"[{title}]({link})" if link else f"“{title}”"


def _fact(source: Source, name: str) -> str:
    assignment = source.assignment
    limits = assignment.choices.child_limits()
    facts = {
        "exercises": len(assignment.exercises),
        "points": assignment.max_score,
        "minutes": assignment.minutes,
        "seconds": min(limits.step_seconds, limits.cpu_seconds),
    }
    return f"{facts[name]:g}"


def read_solved(source: Source) -> Submission:
    """The solved notebook, read exactly as a submission is read. This is the reference."""
    data = json.dumps(solved_notebook(source)).encode()
    return notebooks.read(data, source.assignment)


def with_answer(cells: list[Cell], exercise: str, code: str) -> list[Cell]:
    """The cells with one exercise's answer replaced. Raises `LookupError` where the exercise has no cell."""
    if not any(cell.grade_id == exercise for cell in cells):
        raise LookupError(exercise)
    return [Cell(code, exercise, (exercise,)) if cell.grade_id == exercise else cell for cell in cells]

"""Whatever was handed in → a notebook that nbgrader's pipeline takes: every graded cell there, once, with its metadata.

Grading itself reads the submitted file, never what is made here: this is what people look at.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from autograder import notebooks
from autograder.course import Assignment
from autograder.grading.finding import Found
from autograder.language import _
from autograder.notebooks import Unreadable

_NEW = {"code": new_code_cell, "markdown": new_markdown_cell, "heading": new_markdown_cell}


@dataclass
class _Submitted:
    """A cell as it arrived, and the released cell whose place it takes ("" for none)."""

    kind: str
    source: str
    grade_id: str
    defines: frozenset[str]
    place: str = ""


def readable(found: Found, stub: Any, assignment: Assignment) -> Any:
    """The submission as a notebook of today's format, or the stubs where it cannot be read. Never raises."""
    try:
        data = found.read()
        notebooks.read(data, assignment)
        return repaired(notebooks.parse(data), stub, assignment)
    except Unreadable as problem:
        return unreadable(str(problem), stub)


def unreadable(reason: str, stub: Any) -> Any:
    """The stubs, with a sentence on top that says why nothing else is here."""
    notebook = copy.deepcopy(stub)
    words = _("This submission could not be graded automatically. {reason} What follows is the empty notebook.")
    notebook.cells.insert(0, new_markdown_cell(words.format(reason=_quoted(reason)), id="ungradable"))
    return notebook


def _quoted(text: str) -> str:
    """Safe to stand in Markdown: names in a reason may come from a stranger."""
    return text.replace("\\", "\\\\").replace("<", "&lt;").replace("`", "'")


def repaired(submitted: dict[str, Any], stub: Any, assignment: Assignment) -> Any:
    """The submitted cells in their order, each released cell's metadata on the cell that takes its place."""
    cells = [
        _Submitted(
            str(cell.get("cell_type", "")),
            source,
            notebooks._grade_id(cell),
            notebooks.defines(source) if source else frozenset(),
        )
        for cell in notebooks._raw_cells(submitted)
        for source in [notebooks._source(cell)]
    ]
    released = {cell.metadata["nbgrader"]["grade_id"]: cell for cell in stub.cells if "nbgrader" in cell.metadata}
    _give_places(cells, released, assignment)
    notebook = nbformat.v4.new_notebook(metadata=copy.deepcopy(stub.metadata))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    used: set[str] = set()
    for cell in cells:
        model = released.get(cell.place)
        if model is not None and _is_check(model):
            continue  # stands behind its answer, below
        notebook.cells.append(_cell(cell, model))
        used.add(cell.place)
        _add_check(notebook, cell.place, released, used)
    for grade_id, model in released.items():
        settings = model.metadata["nbgrader"]
        if grade_id in used or not (settings["grade"] or settings["solution"] or settings.get("task")):
            continue
        if not _is_check(model):
            missing = copy.deepcopy(model)
            if any(cell.defines & set(_functions(assignment, grade_id)) for cell in cells):
                missing.source = "# " + _("This answer stands in another cell, with another exercise's.")
            notebook.cells.append(missing)
            used.add(grade_id)
            _add_check(notebook, grade_id, released, used)
        elif grade_id not in used:
            notebook.cells.append(copy.deepcopy(model))
            used.add(grade_id)
    for position, cell in enumerate(notebook.cells):
        cell.id = f"cell-{position}"
    return notebook


def _functions(assignment: Assignment, exercise: str) -> Sequence[str]:
    return assignment.by_name[exercise].functions if exercise in assignment.by_name else ()


def _is_check(model: Any) -> bool:
    settings = model.metadata["nbgrader"]
    return bool(settings["grade"] and not settings["solution"])


def _give_places(cells: Sequence[_Submitted], released: dict[str, Any], assignment: Assignment) -> None:
    """Where an exercise's functions are defined, its last definition counts, wherever its metadata went."""
    for grade_id, model in released.items():
        if _is_check(model):
            for cell in cells:
                if cell.grade_id == grade_id or cell.source.strip() == model.source.strip():
                    cell.place = grade_id
    for grade_id, model in released.items():
        if _is_check(model):
            continue
        free = [cell for cell in cells if not cell.place]
        wanted = set(_functions(assignment, grade_id))
        defining = [cell for cell in free if cell.defines & wanted]
        in_code = [cell for cell in defining if cell.kind == "code"]
        named = [cell for cell in free if cell.grade_id == grade_id]
        chosen = (in_code or defining)[-1:] or named[:1]
        if chosen:
            chosen[0].place = grade_id
            if wanted and model.cell_type == "code":
                chosen[0].kind = "code"


def _cell(cell: _Submitted, model: Any) -> Any:
    made = _NEW.get(cell.kind, new_raw_cell)(cell.source)
    if model is not None:
        made.metadata = copy.deepcopy(model.metadata)
    return made


def _add_check(notebook: Any, exercise: str, released: dict[str, Any], used: set[str]) -> None:
    check = f"check-{exercise}"
    if exercise and check in released and check not in used:
        notebook.cells.append(copy.deepcopy(released[check]))
        used.add(check)

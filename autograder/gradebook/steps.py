"""Our steps in nbgrader's pipeline: read what was handed in, grade it in the sandbox, save the grades.

SubmissionReader   the exporter of the `autograde` command: reads any file that arrives
GradeInSandbox     in the place of nbgrader's Execute: writes panel and number into each check cell
SaveGrades         nbgrader's own step; what has no grade is left to a person
"""

from __future__ import annotations

import atexit
import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_output
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Bool, Integer
from traitlets.config import Application

from autograder.course import Course, CourseError, Source
from autograder.gradebook.repairing import readable, unreadable
from autograder.gradebook.saving import gradebook_url, save_result
from autograder.grading.class_run import draw_seed, grade_found
from autograder.grading.finding import Found, NothingFound, find
from autograder.grading.submission import Grader
from autograder.language import _
from autograder.pages.panel import panel_html
from autograder.pages.rendering import inline
from autograder.release import stub_notebook
from autograder.results import ExerciseResult, SubmissionResult
from autograder.sandbox import SandboxError


class _Kept:
    """The grader and the stubs of one assignment, kept while its files stay as they are: a class costs one start."""

    def __init__(self, source: Source, seed: int | None, unsandboxed: bool) -> None:
        self.source, self.assignment, self.files = source, source.assignment, _state(source.assignment.folder)
        self.stub = stub_notebook(source)
        self._open = contextlib.ExitStack()
        drawn = draw_seed() if seed is None else seed
        self.grader = self._open.enter_context(Grader.open(source, seed=drawn, unsandboxed=unsandboxed))

    def close(self) -> None:
        """End the sandbox."""
        self._open.close()


_kept: dict[Path, _Kept] = {}
_introduced: set[tuple[str, str]] = set()


@atexit.register
def _close_all() -> None:
    while _kept:
        _kept.popitem()[1].close()


def before_a_submission(assignment: str, notebooks: list[str], **_more: Any) -> None:
    """nbgrader's hook before each submission.

    The gradebook learns an assignment that it does not know: `autograder release` does not touch it. A notebook under
    another name is taken for the one that was asked for: nbgrader skips it by its name, and SubmissionReader then looks
    for what is there.
    """
    if notebooks:
        _introduce(Path(notebooks[0]).resolve().parents[3], assignment)
    wanted = f"{assignment}.ipynb"
    if notebooks and all(Path(path).name != wanted for path in notebooks):
        notebooks[:] = [str(Path(notebooks[0]).parent / wanted)]


def _introduce(root: Path, assignment: str) -> None:
    """Put the assignment's exercises and points into the gradebook of the running command, unless they are there."""
    course = Course(root)
    settings = getattr(Application.instance(), "coursedir", None) if Application.initialized() else None
    url = settings.db_url if settings is not None else gradebook_url(course)
    if (url, assignment) in _introduced:
        return
    with Gradebook(url) as gradebook:
        try:
            gradebook.find_assignment(assignment)
        except MissingEntry:
            known = False
        else:
            known = True
    if not known:
        try:
            stub_notebook(course.source(assignment), url)
        except CourseError as problem:
            raise NbGraderException(str(problem)) from None
    _introduced.add((url, assignment))


def _found(folder: Path, student: str) -> Found:
    """The submission in a folder `submitted/STUDENT/ASSIGNMENT`, found as `autograder grade` finds it."""
    try:
        (found,) = find([folder], folder.name)
    except (NothingFound, ValueError) as problem:
        return Found(student, folder, reason=str(problem))
    return replace(found, student=student)


def _state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (str(path), path.stat().st_mtime_ns, path.stat().st_size)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    )


class GradeInSandbox(NbGraderPreprocessor):
    """Grades the submitted file, and writes what it found into the notebook's check cells."""

    seed = Integer(None, allow_none=True, help="Seed of the inputs; drawn for each run where not given.").tag(
        config=True
    )
    unsandboxed = Bool(False, help="Run submissions without isolation. Only those you trust.").tag(config=True)

    def kept(self, root: Path, name: str) -> _Kept:
        """The grader of an assignment. Raises NbGraderException, said in the log, where it cannot start."""
        folder = root / "solutions" / name
        before = _kept.get(folder)
        if before is not None and before.files == _state(folder):
            return before
        if before is not None:
            before.close()
            del _kept[folder]
        try:
            _kept[folder] = _Kept(Course(root).source(name), self.seed, self.unsandboxed)
        except (CourseError, SandboxError) as problem:
            self.log.error("%s", problem)
            raise NbGraderException(str(problem)) from None
        return _kept[folder]

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade, and fill every graded cell: nbgrader takes a cell without output for full marks."""
        about = resources["nbgrader"]
        directory = self.parent.parent.coursedir
        kept = self.kept(Path(directory.root), about["assignment"])
        folder = directory.format_path(directory.submitted_directory, about["student"], about["assignment"])
        result = grade_found(kept.grader, _found(Path(folder), about["student"]))
        about["graded"] = result, kept.assignment  # for SaveGrades
        for flag in result.flags:
            self.log.warning("%s: %s", result.student, flag)
        if result.status == "graded":
            self.log.info("%s: %g of %g points", result.student, result.score, result.max_score)
        else:
            self.log.warning("%s needs manual grading: %s", result.student, result.reason)
            if all(cell.get("id") != "ungradable" for cell in nb.cells):
                nb = unreadable(result.reason or "", kept.stub)
        _fill(nb, result, kept)
        # Not shown to the student: the feedback page holds cells only.
        nb.metadata["autograder"] = {
            "status": result.status, "score": result.score, "seed": result.seed, "flags": list(result.flags),
            "isolation": result.isolation, "sha256": result.sha256,
        }  # fmt: skip
        return nb, resources


def _fill(nb: Any, result: SubmissionResult, kept: _Kept) -> None:
    exercises = {f"check-{exercise.name}": exercise for exercise in result.exercises}
    for cell in nb.cells:
        settings = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or not settings.get("grade") or settings.get("solution"):
            continue
        exercise = exercises.get(settings.get("grade_id"))
        score = min(exercise.score, float(settings["points"])) if exercise is not None else 0.0
        cell.execution_count = 1
        cell.outputs = [
            new_output("display_data", data={"text/html": _panel(exercise, result, kept), "text/plain": ""}),
            new_output("execute_result", execution_count=1, data={"text/plain": f"{score:g}"}),
        ]


def _panel(exercise: ExerciseResult | None, result: SubmissionResult, kept: _Kept) -> str:
    if exercise is None:
        return f"<p>{inline(_('Not graded automatically.'))} {inline(result.reason or '')}</p>"
    return panel_html([exercise], chapter_link=kept.assignment.chapter_link, recorded=False, total=False)


class SubmissionReader(NotebookExporter):
    """Reads whatever was handed in; nbgrader's own reader ends at the first file that is no sound notebook."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        directory = self.parent.coursedir
        # At once, before nbgrader makes any folder: an unfinished one would be skipped by the next run.
        self._kept = GradeInSandbox(parent=self).kept(Path(directory.root), directory.assignment_id)

    def from_filename(self, filename: str, resources: Any = None, **more: Any) -> tuple[str, Any]:
        """Read the submitted file, mended for the pipeline; on the second pass, what the first pass wrote."""
        if not self.parent._sanitizing:
            return super().from_filename(filename, resources=resources, **more)  # type: ignore[no-any-return]
        path = Path(filename)
        resources = {**(resources or {}), "metadata": {"name": path.stem, "path": str(path.parent)}}
        notebook = readable(_found(path.parent, path.parent.parent.name), self._kept.stub, self._kept.assignment)
        return self.from_notebook_node(notebook, resources=resources, **more)  # type: ignore[no-any-return]


class SaveGrades(SaveAutoGrades):
    """nbgrader's step for every cell, then ours: a submission without a score is left to a person, with the reason."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Save the automatic grades. Manual ones stay."""
        nb, resources = super().preprocess(nb, resources)
        result, assignment = resources["nbgrader"].pop("graded")
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            save_result(gradebook, result, assignment)
        return nb, resources

"""One student's verdict as text, for an appeal: everything, one exercise, or one check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autograder.language import _
from autograder.pages.panel import panel_text
from autograder.results import ExerciseResult, SubmissionResult

ChapterLink = Callable[[str], tuple[str, str]]


def verdict_text(result: SubmissionResult, check: str | None, chapter_link: ChapterLink) -> str:
    """The panel of what `check` names: an exercise, a check, everything. Raises `LookupError` for an unknown name."""
    if result.status != "graded":
        return _("{student} could not be graded: {reason}").format(student=result.student, reason=result.reason)
    chosen: list[ExerciseResult] = list(result.exercises)
    if check is not None:
        chosen = [exercise for exercise in result.exercises if exercise.name == check]
        for exercise in result.exercises:
            own = [one for one in exercise.checks if check in (one.name, f"{exercise.name}/{one.name}")]
            if own:
                chosen.append(replace(exercise, checks=tuple(own)))
        if not chosen:
            raise LookupError(check)
    head = _("{student}, {assignment}, seed {seed}").format(
        student=result.student, assignment=result.assignment, seed=result.seed
    )
    return head + "\n\n" + panel_text(chosen, chapter_link=chapter_link, recorded=False, total=check is None)

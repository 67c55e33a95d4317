"""A submission's feedback page: one HTML file that needs nothing else and asks no network for anything."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from autograder.language import _, count
from autograder.pages.rendering import (
    ChapterLink,
    ExerciseView,
    number,
    render,
    safe_url,
    share,
    templates,
    view,
    visible,
)
from autograder.results import ExerciseResult, SubmissionResult

LONGEST_NAME = 200
MOST_KEPT = 1024  # exercises as they were drawn: many students of a class get the same words


@dataclass(frozen=True)
class _Drawn:
    """An exercise made ready, and its part of the page."""

    exercise: ExerciseResult
    chapter_link: ChapterLink
    view: ExerciseView
    html: Markup


_kept: dict[int, _Drawn] = {}


def _drawn(exercise: ExerciseResult, chapter_link: ChapterLink) -> _Drawn:
    """The exercise's part of the page. One and the same result is drawn once."""
    known = _kept.get(id(exercise))
    if known is not None and known.exercise is exercise and known.chapter_link == chapter_link:
        return known
    shown = view(exercise, chapter_link)
    macros = templates().get_template("macros.html").module
    html = macros.exercise_head(shown, 3, True) + "\n" + macros.inside(shown, True)  # type: ignore[attr-defined]
    if len(_kept) >= MOST_KEPT:
        del _kept[next(iter(_kept))]
    drawn = _kept[id(exercise)] = _Drawn(exercise, chapter_link, shown, html)
    return drawn


@dataclass
class _Chapter:
    title: str
    url: str
    names: list[str]

    @property
    def exercises(self) -> str:
        return ", ".join(self.names)


def _chapters(shown: list[ExerciseView], chapter_link: ChapterLink) -> list[_Chapter]:
    """Chapters to reread for what failed, in the order of the exercises."""
    found: dict[str, _Chapter] = {}
    for one in shown:
        for check in [one.first, *one.failed] if one.first else []:
            if not (check and check.check.chapter):
                continue
            title, url = chapter_link(check.check.chapter)
            names = found.setdefault(title, _Chapter(title, safe_url(url), [])).names
            if one.exercise.name not in names:
                names.append(visible(one.exercise.name, 60))
    return list(found.values())


def _overview(shown: list[ExerciseView]) -> str:
    full = sum(view.state == "full" for view in shown)
    untouched = sum(view.state == "untouched" for view in shown)
    if full == len(shown):
        return _("Every rule of every exercise passes. Well done.")
    sentence = _("{full} of {all} exercises are complete.").format(full=full, all=len(shown))
    if untouched:
        missing = count(untouched, "{number} is not attempted.", "{number} are not attempted.")
        return _("{first_sentence} {second_sentence}").format(first_sentence=sentence, second_sentence=missing)
    return sentence


def feedback_html(result: SubmissionResult, *, chapter_link: ChapterLink, title: str) -> str:
    """The page as text. title: the assignment as people call it. chapter_link: as for the panel."""
    drawn = [_drawn(exercise, chapter_link) for exercise in result.exercises]
    shown = [one.view for one in drawn]
    score = result.score or 0.0
    return render(
        "feedback.html",
        result=result,
        title=visible(title, LONGEST_NAME),
        student=visible(result.student, LONGEST_NAME),
        views=shown,
        parts=[one.html for one in drawn],
        chapters=_chapters(shown, chapter_link),
        flags=list(result.flags),
        overview=_overview(shown),
        earned=number(score),
        worth=number(result.max_score),
        share=share(score, result.max_score),
    )

"""A submission's feedback page: one HTML file that needs nothing else and asks no network for anything."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.language import _, count
from autograder.pages.rendering import ChapterLink, ExerciseView, number, render, safe_url, share, views, visible
from autograder.results import SubmissionResult

LONGEST_NAME = 200


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
    for view in shown:
        for check in [view.first, *view.failed] if view.first else []:
            if not (check and check.check.chapter):
                continue
            title, url = chapter_link(check.check.chapter)
            names = found.setdefault(title, _Chapter(title, safe_url(url), [])).names
            if view.exercise.name not in names:
                names.append(visible(view.exercise.name, 60))
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
    shown = views(result.exercises, chapter_link)
    score = result.score or 0.0
    return render(
        "feedback.html",
        result=result,
        title=visible(title, LONGEST_NAME),
        student=visible(result.student, LONGEST_NAME),
        views=shown,
        chapters=_chapters(shown, chapter_link),
        flags=list(result.flags),
        overview=_overview(shown),
        earned=number(score),
        worth=number(result.max_score),
        share=share(score, result.max_score),
    )

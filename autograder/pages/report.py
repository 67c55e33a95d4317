"""The report on a class: one HTML page that an instructor can keep, print and pass on.

Results stream through it: what is held is counters, and one short row per student.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median

from autograder.language import _
from autograder.pages.rendering import ChapterLink, number, render, safe_url, share, stage_words, visible
from autograder.results import CheckResult, ExerciseResult, SubmissionResult

LONGEST_LIST = 60  # names under one exercise; whoever looks for the rest has grades.csv
LONGEST_TABLE = 500  # students in the table; the page stays readable, and quick to open, with 10,000 in the class
FEW = 20  # students in a list that stands open; a longer one is folded, and begins with what is most frequent in it
MOST_FREQUENT = 8
FEWEST_TO_SEPARATE = 12  # students; with fewer, how a rule separates them is chance
LONGEST_NAME = 80
_DIGITS = re.compile(r"\d+")
_REPEATED = re.compile(r"…(?:, …)+")


@dataclass
class _Rule:
    """What is counted of one check. x is 1 where it passed; y is the score on everything else, in per cent."""

    rule: str
    stage: str
    points: float
    passed: int = 0
    failed: int = 0
    blocked: int = 0
    sum_y_passed: float = 0.0
    sum_y: float = 0.0
    sum_yy: float = 0.0

    @property
    def tried(self) -> int:
        return self.passed + self.failed + self.blocked

    def add(self, check: CheckResult, score: float, worth: float) -> None:
        passed = check.status == "passed"
        self.passed += passed
        self.failed += check.status == "failed"
        self.blocked += check.status == "blocked"
        rest = worth - check.points
        y = 100 * (score - (check.points if passed else 0)) / rest if rest > 0 else 0.0
        self.sum_y += y
        self.sum_yy += y * y
        self.sum_y_passed += y if passed else 0

    @property
    def separation(self) -> float | None:
        """Correlation of passing this rule with the score on everything else; None where it says nothing."""
        n, k = self.tried, self.passed
        if n < FEWEST_TO_SEPARATE or not 0 < k < n or not self.points:
            return None
        variance = self.sum_yy / n - (self.sum_y / n) ** 2
        if variance <= 1e-9:
            return None
        return (self.sum_y_passed / n - k / n * self.sum_y / n) / math.sqrt(k / n * (1 - k / n) * variance)

    @property
    def rest_of_passed(self) -> float:
        return self.sum_y_passed / self.passed if self.passed else 0.0

    @property
    def rest_of_others(self) -> float:
        others = self.tried - self.passed
        return (self.sum_y - self.sum_y_passed) / others if others else 0.0


@dataclass
class _Exercise:
    """What is counted of one exercise."""

    name: str
    worth: float
    count: int = 0
    earned: float = 0.0
    full: int = 0
    some: int = 0
    none: int = 0
    untouched: int = 0
    stand_ins: int = 0
    rules: dict[str, _Rule] = field(default_factory=dict)
    needing: list[int] = field(default_factory=list)  # places in the list of students

    def add(self, exercise: ExerciseResult, score: float, worth: float, place: int) -> None:
        self.count += 1
        self.earned += exercise.score
        self.stand_ins += exercise.judged_with == "stand-ins"
        full = exercise.score >= exercise.max_score
        if full:
            self.full += 1
        elif not exercise.attempted:
            self.untouched += 1
        elif exercise.score > 0:
            self.some += 1
        else:
            self.none += 1
        if not full:
            self.needing.append(place)
        for check in exercise.checks:
            rule = self.rules.get(check.name)
            if rule is None:
                rule = self.rules[check.name] = _Rule(
                    visible(check.rule or check.name.replace("_", " "), 300), stage_words(check.stage), check.points
                )
            rule.add(check, score, worth)


@dataclass
class _Mistake:
    """A misconception and how many students have it."""

    name: str
    says: str
    chapter: str
    count: int = 0
    exercises: Counter[str] = field(default_factory=Counter)


@dataclass
class _Student:
    """One row per student is all that is kept of a submission."""

    name: str
    score: float | None
    share: float
    lacking: tuple[str, ...] = ()
    reason: str = ""
    is_ours: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Moved:
    """An exercise's score that a later run changed. place: in the list of students."""

    place: int
    exercise: str
    before: float
    after: float
    why: str


@dataclass(frozen=True)
class _Bar:
    """One column of the distribution."""

    label: str
    count: int
    percent: float
    x: float
    y: float
    height: float


@dataclass
class _Class:
    """Everything that a report says, counted while the results pass by."""

    students: list[_Student] = field(default_factory=list)
    exercises: dict[str, _Exercise] = field(default_factory=dict)
    mistakes: dict[str, _Mistake] = field(default_factory=dict)
    moved: list[_Moved] = field(default_factory=list)
    worth: float = 0.0

    def add(self, result: SubmissionResult) -> None:
        place = len(self.students)
        graded = result.status == "graded" and result.score is not None
        score = result.score if graded and result.score is not None else 0.0
        self.worth = max(self.worth, result.max_score)
        lacking: list[str] = []
        seen: set[str] = set()
        for exercise in result.exercises if graded else ():
            counted = self.exercises.get(exercise.name)
            if counted is None:
                counted = self.exercises[exercise.name] = _Exercise(exercise.name, exercise.max_score)
            counted.add(exercise, score, result.max_score, place)
            if exercise.score < exercise.max_score:
                lacking.append(counted.name)
            for check in exercise.checks:
                if check.status != "failed" or not check.misconception:
                    continue
                mistake = self.mistakes.get(check.misconception)
                if mistake is None:
                    mistake = self.mistakes[check.misconception] = _Mistake(
                        check.misconception, visible(check.says, 600), check.chapter
                    )
                if check.misconception not in seen:
                    mistake.count += 1
                    mistake.exercises[counted.name] += 1
                seen.add(check.misconception)
        self.moved.extend(
            _Moved(
                place, visible(move.exercise, 60), move.before, move.after, visible(" ".join(move.why), 400)
            )
            for move in result.moved
        )  # fmt: skip
        self.students.append(
            _Student(
                name=visible(result.student, LONGEST_NAME),
                score=score if graded else None,
                share=share(score, result.max_score),
                lacking=tuple(lacking),
                reason=visible(result.reason or "", 400),
                is_ours=result.status == "error",
                flags=tuple(visible(flag, 300) for flag in result.flags),
            )
        )

    def hide_names(self) -> None:
        """Numbers for names, also where a reason or a flag holds somebody's. The numbers follow no order."""
        numbers = list(range(1, len(self.students) + 1))
        random.SystemRandom().shuffle(numbers)
        labels = {
            student.name: _("Student {number}").format(number=given)
            for student, given in zip(self.students, numbers, strict=True)
        }
        lengths = _lengths(labels)
        for student in self.students:
            student.reason = _relabelled(student.reason, labels, lengths)
            student.flags = tuple(_relabelled(flag, labels, lengths) for flag in student.flags)
            student.name = labels[student.name]


def _lengths(names: Iterable[str]) -> list[int]:
    return sorted({len(name) for name in names if len(name) > 1}, reverse=True)


def _relabelled(text: str, labels: Mapping[str, str], lengths: Sequence[int]) -> str:
    """The text with a label for each name in it, the longest first. lengths: those that names have."""
    pieces = []
    start = 0
    while start < len(text):
        length = 0
        if not (start and text[start - 1].isalnum()):
            length = next(
                (
                    n
                    for n in lengths
                    if text[start : start + n] in labels and not text[start + n : start + n + 1].isalnum()
                ),
                0,
            )
        pieces.append(labels[text[start : start + length]] if length else text[start])
        start += length or 1
    return "".join(pieces)


def _distribution(shares: Sequence[float]) -> list[_Bar]:
    """Eleven columns: ten ranges of ten per cent, and full marks."""
    counts = [0] * 11
    for percent in shares:
        counts[10 if percent >= 100 else int(percent // 10)] += 1
    highest = max(counts, default=0) or 1
    labels = [_("{low} to {high} %").format(low=10 * i, high=10 * i + 9) for i in range(10)]
    return [
        _Bar(
            label=label,
            count=counted,
            percent=share(counted, len(shares)),
            x=4 + 32 * i,
            y=round(34 + 120 * (1 - counted / highest), 1),
            height=round(120 * counted / highest, 1),
        )
        for i, (label, counted) in enumerate(zip([*labels, _("full marks")], counts, strict=True))
    ]


def _commonest(students: Sequence[_Student], field_name: str, everybody: Sequence[_Student]) -> list[tuple[str, int]]:
    """The most frequent reasons or flags and how many students have each; names and numbers do not tell them apart."""
    nobody = dict.fromkeys((student.name for student in everybody), "…")
    lengths = _lengths(nobody)
    counts: Counter[str] = Counter()
    variants: dict[str, set[str]] = {}
    for student in students:
        own: dict[str, str] = {}
        for words in (student.reason,) if field_name == "reason" else student.flags:
            own[_REPEATED.sub("…", _DIGITS.sub("…", _relabelled(words, nobody, lengths)))] = words
        counts.update(own.keys())
        for kind, words in own.items():
            variants.setdefault(kind, set()).add(words)
    return [
        (kind if len(variants[kind]) > 1 else next(iter(variants[kind])), times)
        for kind, times in counts.most_common(MOST_FREQUENT)
    ]


def _because(moved: Sequence[_Moved]) -> list[tuple[str, str, int, int]]:
    """By exercise and reason, how many scores rose and how many fell; the most frequent first."""
    rose = Counter((move.exercise, move.why) for move in moved if move.after > move.before)
    fell = Counter((move.exercise, move.why) for move in moved if move.after < move.before)
    return [(*what, rose[what], fell[what]) for what, _times in (rose + fell).most_common(MOST_FREQUENT)]


def _separation_words(value: float) -> str:
    if value < 0:
        return _("the wrong way round")
    return _("well") if value >= 0.3 else _("weakly") if value >= 0.1 else _("hardly")


def report_html(
    results: Iterable[SubmissionResult],
    *,
    title: str,
    hide_names: bool = False,
    chapter_link: ChapterLink = lambda chapter: (chapter, ""),
) -> str:
    """The page as text. title: the assignment as people call it. chapter_link: as for the panel.

    hide_names: students are numbered in no order, and their names taken out of reasons and flags too.
    """
    group = _Class()
    for result in results:
        group.add(result)
    if hide_names:
        group.hide_names()
    graded = [student for student in group.students if student.score is not None]
    scores = [student.score for student in graded if student.score is not None]
    by_need = sorted(
        (student for student in graded if student.lacking), key=lambda s: (s.share, -len(s.lacking), s.name)
    )
    separating = sorted(
        (
            (value, exercise.name, rule)
            for exercise in group.exercises.values()
            for rule in exercise.rules.values()
            if (value := rule.separation) is not None
        ),
        key=lambda entry: entry[0],
    )
    badly = [entry for entry in separating if entry[0] < 0.1][:8]
    well = [entry for entry in reversed(separating) if entry[0] >= 0.3][:5]
    mistakes = []
    for mistake in sorted(group.mistakes.values(), key=lambda m: (-m.count, m.name)):
        chapter, url = chapter_link(mistake.chapter) if mistake.chapter else ("", "")
        names = ", ".join(visible(name, 60) for name, _times in mistake.exercises.most_common(4))
        mistakes.append(
            {
                "name": visible(mistake.name, 80),
                "says": mistake.says,
                "count": mistake.count,
                "percent": share(mistake.count, len(graded)),
                "chapter": chapter,
                "url": safe_url(url),
                "exercises": names,
            }
        )
    exercises = []
    for exercise in group.exercises.values():
        needing = sorted((group.students[place] for place in exercise.needing), key=lambda s: (s.share, s.name))
        exercises.append(
            {
                "exercise": exercise,
                "name": visible(exercise.name, 80),
                "average": number(round(exercise.earned / exercise.count, 1)),
                "worth": number(exercise.worth),
                "share": share(exercise.earned, exercise.worth * exercise.count),
                "parts": [
                    ("full", share(exercise.full, exercise.count)),
                    ("some", share(exercise.some, exercise.count)),
                    ("none", share(exercise.none, exercise.count)),
                ],
                "rules": [
                    {
                        "rule": rule,
                        "percent": share(rule.passed, rule.tried),
                        "points": number(rule.points),
                    }
                    for rule in exercise.rules.values()
                ],
                "names": [student.name for student in needing[:LONGEST_LIST]],
                "more": max(0, len(needing) - LONGEST_LIST),
            }
        )
    return render(
        "report.html",
        title=visible(title, 200),
        students=len(group.students),
        graded=len(graded),
        worth=number(group.worth),
        mean=number(round(mean(scores), 1)) if scores else "",
        median=number(round(median(scores), 1)) if scores else "",
        median_x=round(4 + 3.2 * median(s.share for s in graded), 1) if graded else 0,
        full=sum(student.share >= 100 for student in graded),
        half=sum(student.share < 50 for student in graded),
        bars=_distribution([student.share for student in graded]),
        exercises=exercises,
        mistakes=mistakes,
        need=by_need[:LONGEST_TABLE],
        more_need=max(0, len(by_need) - LONGEST_TABLE),
        badly=badly,
        well=well,
        separation_words=_separation_words,
        moved=[(group.students[move.place].name, move) for move in group.moved],
        moved_because=_because(group.moved),
        ungradable=[s for s in group.students if s.score is None and not s.is_ours],
        errors=[s for s in group.students if s.score is None and s.is_ours],
        flagged=[s for s in group.students if s.flags],
        commonest=lambda students, field_name: _commonest(students, field_name, group.students),
        few=FEW,
    )

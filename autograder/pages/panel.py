"""The panel under `check("name")`: in a notebook as HTML, in a terminal as text."""

from __future__ import annotations

import itertools
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TextIO

from autograder.language import _, count
from autograder.pages.rendering import (
    ChapterLink,
    CheckView,
    ExerciseView,
    Table,
    blocks,
    number,
    render,
    share,
    views,
    visible,
)
from autograder.pages.tracing import TraceView, trace_offer, trace_view
from autograder.results import ExerciseResult
from autograder.results import total as sum_of_scores
from autograder.routes import Traced


def panel_html(
    exercises: Sequence[ExerciseResult],
    *,
    chapter_link: ChapterLink,
    recorded: bool,
    total: bool,
    trace: Traced | None = None,
    offer: str = "",
    note: str = "",
) -> str:
    """The HTML fragment shown under `check()`; it needs nothing but itself and stands beside others on one page.

    chapter_link: from a check's `chapter` to the chapter's title and address ("" for no address).
    recorded: whether the inputs were the practice ones. total: whether the sum of all exercises is shown.
    trace: the learner's own way through the exercise, shown below its rules.
    offer: the call that would trace the exercise ("" for none). note: one more sentence below the rules.
    """
    shown = views(exercises, chapter_link, in_notebook=recorded)
    worth = sum(exercise.max_score for exercise in exercises)
    earned = sum_of_scores(exercises)
    names = ", ".join(visible(exercise.name, 60) for exercise in exercises)
    return render(
        "panel.html",
        views=shown,
        label=_("Results of all checks") if total else _("Results of {exercise}").format(exercise=names),
        total=total,
        recorded=recorded,
        earned=number(earned),
        worth=number(worth),
        share=share(earned, worth),
        opened=next((view for view in shown if view.first), None),
        trace=trace_view(trace) if trace else None,
        offer=trace_offer(offer),
        note=note,
    )


# What a terminal without these letters is given in their place.
_PLAIN = str.maketrans(
    {
        "✓": "+", "✗": "x", "–": "-", "—": "-", "−": "-", "·": "*", "×": "x", "√": "sqrt ", "≠": "!", "→": "->",
        "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "≤": "<=", "≥": ">=", "�": "?", "∞": "inf",
    }
)  # fmt: skip
_COLOURS = {"good": "32", "bad": "31", "muted": "2", "bold": "1"}


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes: Korean letters and emoji take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _wrapped(text: str, width: int) -> Iterable[str]:
    """A line cut into lines of at most `width` columns, at spaces where there are any."""
    line = ""
    for word in text.split():
        while True:
            longer = f"{line} {word}" if line else word
            if _columns(longer) <= width:
                line = longer
                break
            if line:
                yield line
                line = ""
                continue
            cut = 1
            while cut < len(word) and _columns(word[: cut + 1]) <= width:
                cut += 1
            yield word[:cut]
            word = word[cut:]
    if line:
        yield line


class _Paper:
    """Lines for a terminal of a given width, with or without colours and letters beyond ASCII."""

    def __init__(self, width: int, colour: bool, encoding: str) -> None:
        self.width = width
        self.colour = colour
        self.encoding = encoding
        try:
            "✓✗–·…≠".encode(encoding)
            self.symbols = True
        except (UnicodeEncodeError, LookupError):
            self.symbols = False
        self.lines: list[str] = []
        self.told: set[str] = set()  # causes and hints of the exercise at hand, each said once

    def plain(self, text: str) -> str:
        """The text as this terminal can print it."""
        if not self.symbols:
            text = text.translate(_PLAIN)
        try:
            return text.encode(self.encoding, "replace").decode(self.encoding)
        except LookupError:
            return text.encode("ascii", "replace").decode("ascii")

    def paint(self, text: str, colour: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.colour and colour else text

    def blank(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def line(self, text: str, indent: int = 0, colour: str = "", mark: str = "") -> None:
        """One line, wrapped; what is wrapped stands under the text, not under the mark."""
        text, mark = self.plain(visible(text)), self.plain(mark)
        hang = len(mark) + 1 if mark else 0
        for i, part in enumerate(_wrapped(text, max(20, self.width - indent - hang))):
            lead = f"{mark} " if mark and i == 0 else " " * hang
            self.lines.append(" " * indent + self.paint(lead + part, colour))

    def apart(self, left: str, right: str, indent: int = 0, colour: str = "", mark: str = "") -> None:
        """A text, and at the right edge of its first line another."""
        left, right, mark = self.plain(visible(left)), self.plain(visible(right)), self.plain(mark)
        hang = len(mark) + 1 if mark else 0
        room = max(20, self.width - indent - hang - _columns(right) - 2)
        for i, part in enumerate(_wrapped(left, room) or [""]):
            if i:
                self.lines.append(" " * (indent + hang) + part)
                continue
            lead = f"{mark} " if mark else ""
            gap = " " * max(2, self.width - indent - hang - _columns(part) - _columns(right))
            self.lines.append(" " * indent + self.paint(lead + part, colour) + gap + self.paint(right, "muted"))

    def prose(self, text: str, indent: int, first: str = "") -> None:
        """A message: paragraphs wrapped, code as it stands. `first` leads in the first line."""
        for block in blocks(visible(text)):
            if block.is_code:
                for line in block.lines:
                    self.lines.append(" " * (indent + 2) + self.plain(line)[: max(20, self.width - indent - 2)])
            else:
                for line in block.lines:
                    self.line(first + line, indent)
                    first = ""

    def table(self, table: Table, indent: int) -> None:
        """Expected and got, one under the other."""
        if table.where:
            self.line(_("Shown: {where}.").format(where=table.where), indent)
        if table.row_label and table.column_label:
            self.line(
                _("Rows are {rows}, columns are {columns}.").format(rows=table.row_label, columns=table.column_label),
                indent,
            )
        elif table.column_label:
            self.line(_("Columns are {columns}.").format(columns=table.column_label), indent)
        both = [("", _("Expected"), table.expected), ("≠", _("Your answer gave (≠ differs)"), table.got)]
        for sign, caption, cells in both:
            self.line(caption, indent)
            texts = [[self.plain((sign if cell.differs else "") + cell.text) for cell in row] for row in cells]
            heads = [self.plain(label) for label in table.columns]
            labels = [self.plain(label) for label in table.rows]
            side = max(map(_columns, labels))
            widths = [max(_columns(row[j]) for row in [heads, *texts]) for j in range(len(heads))]
            room = self.width - indent - 2 - side - 2  # the last two for the sign that columns are missing
            shown = len(widths)
            while shown > 1 and sum(widths[:shown]) + 2 * shown > room:
                shown -= 1

            def joined(label: str, row: list[str], side: int = side, shown: int = shown, w: list[int] = widths) -> str:
                cut = "" if shown == len(w) else self.plain(" …")
                cells = "".join("  " + " " * (w[j] - _columns(row[j])) + row[j] for j in range(shown))
                return " " * (indent + 2) + " " * (side - _columns(label)) + label + cells + cut

            self.lines.append(self.paint(joined("", heads), "muted"))
            for label, row in zip(labels, texts, strict=True):
                self.lines.append(joined(label, row))

    def trace(self, view: TraceView) -> None:
        """The learner's own code, line by line, with the shape that each operation makes."""
        self.line(view.title, colour="bold")
        for name, shape in view.inputs:
            self.lines.append("  " + self.plain(f"{name}  {shape}"))
        for line in view.lines:
            self.line(
                _("{function}, line {number}: {text}").format(
                    function=line.function, number=line.number, text=line.text
                ),
                2,
            )
            for row in line.rows:
                self.apart(row.shape, row.operation, 6, "bad" if row.leaves else "", "✗" if row.leaves else "")
                if row.leaves:
                    self.line(view.leaving, 8, "bad")
        for sentence in view.sentences:
            self.line(sentence, 2)

    def rule(self, check: CheckView, mark: str, state: str, colour: str) -> None:
        right = _("{stage}, {points}").format(stage=check.stage, points=check.points)
        self.apart(_("{state}: {rule}").format(state=state, rule=check.rule), right, 2, colour, mark)

    def explain(self, check: CheckView, full: bool) -> None:
        if check.check.says and check.check.says in self.told:
            self.line(_("The same cause."), 4)
        elif check.check.says:
            self.prose(check.check.says, 4, _("Likely cause:") + " ")
        if check.check.narrows:
            self.prose(check.check.narrows, 4, _("Where the fault lies:") + " ")
        if check.check.message and check.check.message in self.told:
            self.line(_("The same as above."), 4)
        else:
            self.prose(check.check.message, 4)
        if full and check.picture:
            self.table(check.picture, 4)
        heads = itertools.chain([_("What to try:")], itertools.repeat(_("One more hint:")))
        for hint in check.hints if full else check.hints[:1]:
            if hint not in self.told:
                self.prose(hint, 4, next(heads) + " ")
        self.told.update([check.check.says, check.check.message, *check.hints])
        if full and check.chapter:
            self.line(_("To reread: {chapter}").format(chapter=check.chapter), 4)
            if check.url:
                self.line(check.url, 6)

    def exercise(self, view: ExerciseView) -> None:
        self.told = set()
        self.apart(
            visible(view.exercise.name, 120),
            _("{earned} of {worth} points").format(earned=view.earned, worth=view.worth),
            colour="bold",
        )
        self.line(view.summary.replace("`", ""), 2)
        if view.exercise.judged_with == "stand-ins":
            self.line(
                _(
                    "Judged with stand-ins: another exercise that this one uses lost points, so this one was judged "
                    "again with sound pieces in its place. The better result counts."
                ),
                2,
            )
        if not view.exercise.attempted:
            return
        if view.first:
            self.blank()
            self.rule(view.first, "✗", _("failed"), "bad")
            self.explain(view.first, full=True)
        for check in view.failed:
            self.blank()
            self.rule(check, "✗", _("failed"), "bad")
            self.explain(check, full=False)
        if view.failed or view.first:
            self.blank()
        told = ""
        for check in view.blocked:
            self.rule(check, "–", _("blocked"), "")
            if check.waits != told:  # once, not under each rule that waits for the same
                self.line(check.waits.replace("`", ""), 4)
            told = check.waits
        for check in view.passed:
            if check.check.message:
                self.rule(check, "i", _("reported"), "")
            else:
                self.rule(check, "✓", _("passed"), "good")
            self.prose(check.check.message, 4)


def panel_text(
    exercises: Sequence[ExerciseResult],
    *,
    chapter_link: ChapterLink,
    recorded: bool,
    total: bool,
    file: TextIO | None = None,
    width: int = 80,
    trace: Traced | None = None,
    offer: str = "",
    note: str = "",
) -> str:
    """The panel for a terminal: at most `width` columns, in the letters that `file` (standard output) can print.

    Colours only where `file` is a terminal and neither NO_COLOR nor TERM=dumb asks for none.
    """
    file = sys.stdout if file is None else file
    colour = file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    paper = _Paper(width, colour, getattr(file, "encoding", None) or "utf-8")
    for view in views(exercises, chapter_link, in_notebook=recorded):
        paper.blank()
        paper.exercise(view)
    if trace:
        paper.blank()
        paper.trace(trace_view(trace))
    if offer:
        paper.blank()
        paper.line(_("To see the shape that each line of your own code makes, run:"))
        paper.lines.append("  " + paper.plain(visible(offer)))  # in one piece, so that it can be copied
    if note:
        paper.blank()
        paper.line(note)
    if total:
        paper.blank()
        worth = sum(exercise.max_score for exercise in exercises)
        paper.apart(
            _("Your total"),
            _("{earned} of {worth} points").format(earned=number(sum_of_scores(exercises)), worth=number(worth)),
            colour="bold",
        )
        untouched = sum(not exercise.attempted and not exercise.missing for exercise in exercises)
        if untouched:
            paper.line(
                count(untouched, "{number} exercise is not attempted yet.", "{number} exercises are not attempted yet.")
            )
    paper.blank()
    paper.line(
        _("These are practice inputs, kept with your copy. Grading tries the same rules on fresh ones.")
        if recorded
        else _("Graded on fresh inputs, drawn for this grading. Your own copy tries the same rules on practice inputs.")
    )
    return "\n".join(line.rstrip() for line in paper.lines) + "\n"

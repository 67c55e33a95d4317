"""What every page shares: the templates' surroundings, and the filters that make strangers' text safe to show.

A learner's strings reach these pages through messages, names and pictures. Jinja2 escapes whatever a template prints;
`visible` takes away what escaping leaves (control characters, line noise without end).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.language import _, count
from autograder.results import STAGES, CheckResult, ExerciseResult

ChapterLink = Callable[[str], "tuple[str, str]"]

LONGEST_TEXT = 4000  # characters of one message; an exception's text can be megabytes long
LARGEST_TABLE = 12  # rows and columns of a picture; more than that nobody reads in a panel
LONGEST_CELL = 16
SAME_ADVICE = 2 / 3  # of a hint's words: one that shares as many with a hint before it adds nothing

# Direction marks can reorder a whole line; every stranger's text stands in an element of its own direction instead.
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_CODE = re.compile(r"`([^`\n]+)`")


def visible(text: object, longest: int = LONGEST_TEXT) -> str:
    """Text with control characters made visible (newline and tab stay), direction marks removed, and an end."""
    kept = str(text)
    if len(kept) > longest:
        kept = kept[: longest - 1] + "…"
    if kept.isascii() and kept.isprintable():
        return kept
    kept = _DIRECTION_MARKS.sub("", kept.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join("�" if unicodedata.category(c) in ("Cc", "Cs", "Co") and c not in "\n\t" else c for c in kept)


def inline(text: object) -> Markup:
    """One line of prose as HTML: escaped, `code` between backticks."""
    pieces = _CODE.split(visible(text))
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(pieces))


def name(text: object) -> Markup:
    """A name as HTML, which a narrow column may break where a word in it begins."""
    return Markup("<wbr>").join(re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=_)(?=[^_])", visible(text)))


def prose(text: object) -> Markup:
    """A message as HTML: blank lines part paragraphs, lines indented by four spaces are code, `x` is code."""
    html: list[Markup] = []
    for block in blocks(visible(text)):
        if block.is_code:
            html.append(Markup('<pre class="ag-code" tabindex="0" dir="ltr">{}</pre>').format("\n".join(block.lines)))
        else:
            lines = Markup("<br>").join(inline(line) for line in block.lines)
            html.append(Markup('<p dir="auto">{}</p>').format(lines))
    return Markup("\n").join(html)


@dataclass(frozen=True)
class Block:
    """Lines of a message that belong together."""

    lines: list[str]
    is_code: bool


def blocks(text: str) -> list[Block]:
    """A message cut into paragraphs and code: code is what is indented by four spaces."""
    found: list[Block] = []
    new = True
    for line in text.split("\n"):
        if not line.strip():
            new = True
            continue
        is_code = line.startswith("    ")
        shown = line[4:] if is_code else line.strip()
        if new or found[-1].is_code != is_code:
            found.append(Block([], is_code))
        found[-1].lines.append(shown)
        new = False
    return found


def number(value: float) -> str:
    """A score as people write it: 3, 2.5, 87.25."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def points(value: float) -> str:
    """What a rule is worth, in words."""
    if value == 0:
        return _("no points")
    return (
        count(int(value), "{number} point", "{number} points")
        if value == int(value)
        else _("{number} points").format(number=number(value))
    )


def share(part: float, whole: float) -> float:
    """Per cent of the whole, between 0 and 100; 0 where there is no whole."""
    return round(min(100.0, max(0.0, 100 * part / whole)), 1) if whole > 0 else 0.0


def safe_url(url: str) -> str:
    """The address, if following it can run nothing: http, https, or a path beside this page. Otherwise ""."""
    if any(ord(c) <= 32 for c in url):
        return ""
    scheme = re.match(r"^([a-zA-Z][a-zA-Z0-9+.-]*):", url)
    return "" if scheme and scheme.group(1).lower() not in ("http", "https") else url


def stage_words(stage: str) -> str:
    """A stage's name as the reader's language has it."""
    words = {
        "loads": _("loads"),
        "shape": _("shape"),
        "values": _("values"),
        "mask": _("mask"),
        "gradients": _("gradients"),
        "side effects": _("side effects"),
        "train/eval": _("train/eval"),
        "dtype": _("dtype"),
        "device": _("device"),
    }
    return words.get(stage, stage)


@dataclass(frozen=True)
class Cell:
    """One number of a picture, as shown."""

    text: str
    differs: bool


@dataclass(frozen=True)
class Table:
    """A picture made ready to draw; its schema stands in `autograder.results`."""

    where: str
    row_label: str
    column_label: str
    rows: list[str]
    columns: list[str]
    expected: list[list[Cell]]
    got: list[list[Cell]]
    cut: bool


def _cell_text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        shown = f"{value:.4g}"
        return "0" if shown == "-0" else shown
    return visible(value, LONGEST_CELL).replace("\n", " ")


def _grid(value: Any) -> list[list[Any]]:
    return [list(row) for row in value or ()]


def table(picture: Mapping[str, Any] | None) -> Table | None:
    """The picture made ready to draw, or None where there is none (or none that we know how to draw)."""
    if not picture or picture.get("kind") != "table":
        return None
    sides = {side: _grid(picture.get(side)) for side in ("expected", "got")}
    height = max(map(len, sides.values()))
    width = max((len(row) for grid in sides.values() for row in grid), default=0)
    if not height or not width:
        return None
    marks = _grid(picture.get("differs"))
    rows, columns = min(height, LARGEST_TABLE), min(width, LARGEST_TABLE)

    def text(side: str, i: int, j: int) -> str:
        grid = sides[side]
        return _cell_text(grid[i][j] if i < len(grid) and j < len(grid[i]) else None)

    def differs(i: int, j: int) -> bool:
        if i < len(marks) and j < len(marks[i]):
            return bool(marks[i][j])
        return not marks and text("expected", i, j) != text("got", i, j)

    def drawn(side: str) -> list[list[Cell]]:
        return [[Cell(text(side, i, j), differs(i, j)) for j in range(columns)] for i in range(rows)]

    def labels(key: str, length: int) -> list[str]:
        given = [visible(label, LONGEST_CELL) for label in picture.get(key) or ()]
        return [given[i] if i < len(given) else str(i) for i in range(length)]

    return Table(
        where=", ".join(visible(axis, 40) for axis in picture.get("at") or ()),
        row_label=visible(picture.get("row_label") or "", 24),
        column_label=visible(picture.get("column_label") or "", 24),
        rows=labels("rows", rows),
        columns=labels("columns", columns),
        expected=drawn("expected"),
        got=drawn("got"),
        cut=bool(picture.get("cut")) or rows < height or columns < width,
    )


@dataclass(frozen=True)
class CheckView:
    """A rule's outcome, as a page says it."""

    check: CheckResult
    rule: str
    stage: str
    points: str
    hints: list[str]
    picture: Table | None
    chapter: str
    url: str
    waits: str


@dataclass(frozen=True)
class ExerciseView:
    """An exercise, its rules in the order in which a reader should meet them."""

    exercise: ExerciseResult
    title: str
    earned: str
    worth: str
    share: float
    first: CheckView | None
    failed: list[CheckView]
    blocked: list[CheckView]
    passed: list[CheckView]
    summary: str

    @property
    def state(self) -> str:
        """ "full", "some", "none" or "untouched": how the exercise stands."""
        if not self.exercise.attempted:
            return "untouched"
        if not (self.first or self.blocked):
            return "full"
        return "some" if self.exercise.score > 0 else "none"


def _hints(hint: str) -> list[str]:
    """The layers of a hint, without those that hardly add a word to one before them. A longer one that does stays."""
    told: list[tuple[str, set[str]]] = []
    for layer in re.split(r"\n\s*\n", hint.strip("\n")):
        words = set(re.findall(r"\w+", layer.lower()))
        if words and not any(len(words & other) >= SAME_ADVICE * len(words) for __, other in told):
            told.append((layer, words))
    return [layer for layer, __ in told]


def _check_view(check: CheckResult, chapter_link: ChapterLink) -> CheckView:
    chapter, url = chapter_link(check.chapter) if check.chapter else ("", "")
    if check.blocked_by:
        waits = _("Blocked by {exercise}: it is tried once that exercise passes its rules.").format(
            exercise=f"`{check.blocked_by}`"
        )
    else:
        waits = _("It is tried once the earlier rules of the same function pass.")
    return CheckView(
        check=check,
        rule=check.rule or check.name.replace("_", " "),
        stage=stage_words(check.stage),
        points=points(check.points),
        hints=_hints(check.hint),
        picture=table(check.picture),
        chapter=chapter,
        url=safe_url(url),
        waits=check.message or waits,
    )


def _stage_order(check: CheckResult) -> int:
    return STAGES.index(check.stage) if check.stage in STAGES else len(STAGES)


def _not_attempted(exercise: ExerciseResult, in_notebook: bool) -> str:
    if not exercise.missing:
        return _("Not attempted yet: the cell still holds what it came with.")
    names = ", ".join(f"`{name}`" for name in exercise.missing)
    if in_notebook:
        words = _(
            "Not found: {names}. Run the cell with your answer, then this one. If it ends in an error, mend that first."
        )
    else:
        words = _("Not attempted: the notebook has no {names}.")
    causes = [check.message.partition("\n\n")[2] for check in exercise.checks if check.stage == STAGES[0]]
    return " ".join([words.format(names=names), *filter(None, causes)])


def view(exercise: ExerciseResult, chapter_link: ChapterLink, in_notebook: bool = False) -> ExerciseView:
    """An exercise made ready for a page: the first failure in the order of the stages comes first.

    in_notebook: whether the reader is the learner, who can run cells; otherwise it is what was handed in.
    """
    ordered = [_check_view(check, chapter_link) for check in sorted(exercise.checks, key=_stage_order)]
    failed = [check for check in ordered if check.check.status == "failed"]
    passed = [check for check in ordered if check.check.status == "passed"]
    blocked = [check for check in ordered if check.check.status == "blocked"]
    if not exercise.attempted:
        summary = _not_attempted(exercise, in_notebook)
    elif not ordered:
        summary = _("No rule was tried.")
    elif len(passed) == len(ordered):
        summary = count(len(ordered), "The rule passes.", "All {number} rules pass.")
    else:
        summary = _("{passed} of {all} rules pass.").format(passed=len(passed), all=len(ordered))
    return ExerciseView(
        exercise=exercise,
        title=exercise.title,
        earned=number(exercise.score),
        worth=number(exercise.max_score),
        share=share(exercise.score, exercise.max_score),
        first=failed[0] if failed and exercise.attempted else None,
        failed=failed[1:] if exercise.attempted else failed,
        blocked=blocked,
        passed=passed,
        summary=summary,
    )


def views(
    exercises: Sequence[ExerciseResult], chapter_link: ChapterLink, in_notebook: bool = False
) -> list[ExerciseView]:
    """`view` of each."""
    return [view(exercise, chapter_link, in_notebook) for exercise in exercises]


def _words(text: str) -> Markup:
    """A sentence whose named places take HTML: `words("See {link}.").format(link=...)`; the rest is escaped."""
    return Markup(escape(text))


@lru_cache(maxsize=1)
def templates() -> Environment:
    """The templates beside this file; everything they print is escaped."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(prose=prose, inline=inline, name=name, visible=visible, number=number)
    # The catalogue's own word for its language, so that a page in English never says that it is Korean.
    found.globals.update(_=_, count=count, words=_words, language=_("en"))
    return found


def render(template: str, **values: Any) -> str:
    """One template, filled in."""
    return templates().get_template(template).render(**values)

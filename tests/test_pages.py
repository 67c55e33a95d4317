"""The panel, the feedback page and the class report as text: what they say, and what they never let through."""

from __future__ import annotations

import html
import io
import itertools
import re
import time
import tracemalloc
from dataclasses import replace
from html.parser import HTMLParser

import page_samples as samples
import pytest

from autograder.pages.feedback import feedback_html
from autograder.pages.panel import panel_html, panel_text
from autograder.pages.rendering import blocks, safe_url, table, visible
from autograder.pages.report import report_html
from autograder.results import CheckResult, ExerciseResult, Move, SubmissionResult

VOID = {"meta", "br", "line", "rect", "img", "link", "input", "wbr"}


class Markup(HTMLParser):
    """What a page holds, read by a parser: elements, attributes and text; complains of tags that do not close."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(page)
        assert not self.open, f"still open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open and self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def values(self, name: str) -> list[str]:
        return [value for attribute, value in self.attributes if attribute == name]


def panel(*exercises: ExerciseResult, recorded: bool = True, total: bool = False) -> str:
    return panel_html(exercises, chapter_link=samples.chapter_link, recorded=recorded, total=total)


def text(*exercises: ExerciseResult, encoding: str = "utf-8", width: int = 80, total: bool = False) -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return panel_text(exercises, chapter_link=samples.chapter_link, recorded=True, total=total, file=file, width=width)


def feedback(result: SubmissionResult) -> str:
    return feedback_html(result, chapter_link=samples.chapter_link, title="Multi-head attention")


def report(*results: SubmissionResult, hide_names: bool = False) -> str:
    return report_html(results, title="Multi-head attention", hide_names=hide_names, chapter_link=samples.chapter_link)


PAGES = {
    "panel": lambda: panel(*samples.everything()),
    "panel with total": lambda: panel(*samples.everything(), total=True),
    "feedback": lambda: feedback(samples.graded(samples.SCRIPT + samples.LONG)),
    "feedback, ungradable": lambda: feedback(samples.ungradable(samples.RIGHT_TO_LEFT + samples.SCRIPT)),
    "feedback, error": lambda: feedback(samples.error(samples.EMOJI)),
    "report": lambda: report(*samples.class_of(60), samples.graded(samples.SCRIPT), samples.ungradable(samples.LONG)),
    "report, nobody": lambda: report(),
}


@pytest.mark.parametrize("name", PAGES)
def test_nothing_of_a_learner_becomes_markup(name: str) -> None:
    page = Markup(PAGES[name]())
    assert not {"script", "img", "iframe", "link", "object", "form"} & set(page.tags)
    assert not [attribute for attribute, _ in page.attributes if attribute.startswith("on")]
    assert not [url for url in page.values("href") if url.lower().startswith(("javascript", "data", "vbscript"))]


@pytest.mark.parametrize("name", PAGES)
def test_control_characters_and_direction_marks_are_gone(name: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", PAGES[name]())


@pytest.mark.parametrize("name", [name for name in PAGES if not name.startswith("panel")])
def test_a_page_forbids_everything_but_its_own_style(name: str) -> None:
    page = PAGES[name]()
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert not re.search(r"url\(|@import", page.split("<style>")[1].split("</style>")[0])
    assert not Markup(page).values("src")
    assert 'lang="en"' in page


def test_a_panel_has_no_ids_so_that_several_stand_on_one_page() -> None:
    assert not Markup(panel(*samples.everything())).values("id")


def test_ids_of_a_feedback_page_are_unique_and_every_jump_lands() -> None:
    page = Markup(feedback(samples.graded()))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    jumps = [url[1:] for url in page.values("href") if url.startswith("#")]
    assert len(jumps) == 1 + len(samples.everything())
    assert set(jumps) <= set(ids)


def test_the_first_failure_in_the_order_of_the_stages_comes_first_and_open() -> None:
    page = panel(samples.failing())
    assert page.count('<details class="ag-failed ag-first" open>') == 1
    assert page.index("Head i holds columns") < page.index("Gradients arrive")
    assert Markup(page).text.index("Likely cause") < page.index("Expected <code>")


def test_a_failure_says_cause_then_expected_then_hint_then_chapter() -> None:
    said = Markup(panel(samples.failing())).text
    order = [
        "each head holds whole tokens",
        "in head 1",
        "return x.view",
        "Cut the last axis",
        "Then move",
        "Splitting heads",
    ]
    places = [said.index(words) for words in order]
    assert places == sorted(places)
    assert "https://book.example/splitting-heads.html" in panel(samples.failing())


def test_every_mark_has_a_word_beside_it() -> None:
    said = Markup(panel(samples.failing())).text
    for mark, word in (("✗", "failed"), ("✓", "passed"), ("–", "blocked")):
        assert mark in said and word in said


def test_points_are_earned_of_worth() -> None:
    said = Markup(panel(samples.failing())).text
    assert "4 of 10 points" in said
    assert "3 points" in said and "1 point " in said and "no points" in said
    total = Markup(panel(*samples.everything(), total=True)).text
    assert "22.5 of 50.25 points" in total


def test_a_blocked_rule_says_by_what() -> None:
    assert "Blocked by MultiHeadedAttention" in re.sub(r" +", " ", Markup(panel(samples.blocked())).text)
    assert "blocked: Head 2 adds nothing." in text(samples.blocked())
    assert "Blocked by MultiHeadedAttention" in text(samples.blocked())


def test_what_a_submission_lacks_is_not_called_untouched() -> None:
    lacking = replace(samples.untouched(), missing=["load_torch_weights"])
    assert "Not found: load_torch_weights." in text(lacking)
    handed_in = replace(samples.graded("s01"), exercises=[lacking])
    said = re.sub(r" +", " ", Markup(feedback(handed_in)).text)
    assert "Not attempted: the notebook has no load_torch_weights ." in said


def test_an_untouched_exercise_is_not_called_failed() -> None:
    page = Markup(panel(samples.untouched())).text
    assert "Not attempted yet" in page and "failed" not in page
    assert "Not attempted yet" in text(samples.untouched()) and "failed" not in text(samples.untouched())


def test_stand_ins_are_explained_in_words() -> None:
    for page in (panel(samples.full()), text(samples.full()), feedback(samples.graded())):
        assert "sound pieces in its place" in re.sub(r"\s+", " ", page)


def test_practice_and_grading_are_told_apart() -> None:
    assert "Grading tries the same rules on fresh ones" in panel(samples.full())
    graded = panel(samples.full(), recorded=False)
    assert "Graded on fresh inputs" in graded and "practice inputs, kept" not in graded
    assert "Graded on fresh inputs" in feedback(samples.graded())


def test_a_picture_marks_what_differs_in_more_than_colour() -> None:
    page = panel(samples.failing())
    said = Markup(page).text
    assert "Shown: B 0, h 1." in said and "Only the first rows and columns fit." in said
    assert (
        "≠ 0.5" in said and "≠ -0.3" in said and said.count("≠") == 3
    )  # two cells, and the caption that explains them
    assert page.count('class="ag-differs"') == 4
    assert page.count('scope="row"') == 4 and page.count("<caption>") == 2


def test_a_picture_without_marks_marks_what_reads_differently() -> None:
    drawn = table({"kind": "table", "expected": [[1.0, 2]], "got": [[1.00000001, 3]]})
    assert drawn is not None
    assert [[cell.differs for cell in row] for row in drawn.got] == [[False, True]]


@pytest.mark.parametrize(
    "picture",
    [None, {}, {"kind": "unknown"}, {"kind": "table"}, {"kind": "table", "expected": [], "got": [[]]}],
)
def test_a_picture_that_is_none_draws_nothing(picture: dict[str, object] | None) -> None:
    assert table(picture) is None


def test_a_picture_is_cut_to_what_a_reader_takes_in() -> None:
    drawn = table({"kind": "table", "expected": [list(range(40))] * 40, "got": [[0]]})
    assert drawn is not None and drawn.cut
    assert len(drawn.got) == 12 and len(drawn.got[0]) == 12


def test_code_in_messages_is_code() -> None:
    assert [block.is_code for block in blocks("a\nb\n    c\n\n    d\ne")] == [False, True, True, False]
    assert "<pre" in panel(samples.failing()) and "<code>x[0, 0, 4:8]</code>" in panel(samples.failing())


def test_an_endless_message_ends() -> None:
    assert len(visible("x" * 10**6)) == 4000
    assert visible("a\x00b\r\nc") == "a�b\nc"


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://a.example/b.html#c", True),
        ("book/a.html", True),
        ("#top", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("java\tscript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
    ],
)
def test_only_addresses_that_run_nothing_become_links(url: str, kept: bool) -> None:
    assert safe_url(url) == (url if kept else "")


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_terminal_panel_keeps_to_its_width(width: int) -> None:
    from autograder.pages.panel import _columns

    lines = text(*samples.everything(), width=width, total=True).splitlines()
    assert max(_columns(line) for line in lines if "https://" not in line) <= width


def test_advice_that_adds_nothing_is_told_once() -> None:
    def said(*layers: str) -> str:
        return text(
            ExerciseResult("e", 0, 1, checks=[CheckResult("a", "values", "failed", 1, hint="\n\n".join(layers))])
        )

    first = "weights = dropout(weights), after the softmax and before the values."
    assert (
        said(first, "weights = dropout(weights) comes after the softmax and before the values.").count("softmax") == 1
    )
    longer = "W_V takes value. One token: its weight is 1, so the output is W_O(W_V(value))."
    both = said("W_V takes value.", longer)
    assert "What to try: W_V takes value." in both and "One more hint: W_V takes value. One token" in both
    other = said("Cut the last axis first.", "Print each shape on the way.")
    assert "What to try: Cut the last axis first." in other and "One more hint: Print each shape" in other


def test_a_terminal_that_prints_ascii_gets_ascii() -> None:
    said = text(*samples.everything(), encoding="ascii")
    assert said.isascii()
    assert "x failed: Head i holds columns i*d_k" in said and "+ passed:" in said


def test_a_terminal_panel_lets_no_escape_sequence_through() -> None:
    assert "\x1b" not in text(*samples.everything())


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


def test_colour_only_on_a_terminal_that_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def said() -> str:
        return panel_text(
            [samples.failing()], chapter_link=samples.chapter_link, recorded=True, total=False, file=Terminal()
        )

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[31m" in said()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in said()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in said()


def test_wide_letters_count_as_two_columns() -> None:
    exercise = ExerciseResult("가", 0, 1, checks=[CheckResult("a", "values", "failed", 1, "어" * 60 + " " + "텐" * 60)])
    from autograder.pages.panel import _columns

    assert max(map(_columns, text(exercise).splitlines())) <= 80


def test_an_ungradable_submission_says_why_and_what_to_do() -> None:
    said = Markup(feedback(samples.ungradable())).text
    assert "bob.ipynb is not a notebook: it is empty." in said
    assert "not a zero" in said and "hand it in again" in said and "of 100 points" not in said


def test_an_error_is_ours_and_asks_nothing_of_the_student() -> None:
    said = Markup(feedback(samples.error())).text
    assert "our side" in said and "need not do anything" in said and "hand it in again" not in said


def test_headings_of_a_feedback_page_skip_no_level() -> None:
    for page in (feedback(samples.graded()), feedback(samples.error()), report(*samples.class_of(50))):
        levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_a_panel_puts_no_heading_into_a_notebooks_table_of_contents() -> None:
    assert not re.search(r"<h[1-6]", panel(*samples.everything(), total=True))


def test_a_report_counts_what_passes_by() -> None:
    said = Markup(
        report(samples.graded("ada"), samples.graded("ben"), samples.ungradable("bob"), samples.error("eve"))
    ).text
    assert "4 submissions" in said and "Could not be graded" in said and "Failed on our side" in said
    assert re.search(r"view-without-transpose · in split_heads · reread +Splitting heads +2", said)


def test_a_report_counts_each_student_once_for_each_misconception() -> None:
    twice = [CheckResult(f"c{i}", "values", "failed", 1, misconception="same", says="S") for i in range(2)]
    result = samples.graded("ada", [ExerciseResult("e", 0, 2, checks=twice)])
    assert re.search(r"same · in e +1 +100 %", Markup(report(result)).text)


def test_a_report_hides_names_everywhere() -> None:
    students = list(samples.class_of(200))
    page = report(*students, hide_names=True)
    assert not re.search(r"student-\d{5}|Ännchen", html.unescape(page))
    assert "Student 1" in page


def test_a_report_hides_a_name_in_what_is_said_of_another() -> None:
    flags = ("The answers equal those of Ben Ali, eve.", "Handed in as eve_40901_700001_x.ipynb, never by evelyn.")
    students = [replace(samples.graded("ada", [samples.full()]), flags=flags)]
    students += [samples.graded(name, [samples.full()]) for name in ("Ben Ali", "Ben", "eve")]
    said = Markup(report(*students, hide_names=True)).text
    assert re.search(r"equal those of Student \d, Student \d\.", said)
    assert re.search(r"Handed in as Student \d_40901_700001_x.ipynb, never by evelyn", said)
    assert "Ben" not in said and "eve " not in said


def test_a_report_finds_rules_that_separate_well_and_badly() -> None:
    said = Markup(report(*samples.class_of(300))).text
    assert "Rules that separate well or badly" in said
    assert "Best" in said


def test_a_report_on_a_large_class_stays_small() -> None:
    def run(students: int) -> tuple[int, int]:
        tracemalloc.start()
        page = report_html(samples.class_of(students), title="T", chapter_link=samples.chapter_link)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return len(page), peak

    run(10)  # templates are read once
    size, peak = run(2000)
    assert size < 400_000
    assert peak < 2000 * 2000 + 8_000_000  # a row per student, not the results themselves


def test_a_long_list_is_folded_and_begins_with_what_is_most_frequent() -> None:
    def several(number: int) -> list[SubmissionResult]:
        lost = [replace(samples.ungradable(f"u{i}"), reason=f"It is cut off at line {i}.") for i in range(number)]
        flags = [
            ("`x` is off limits.",) if i % 2 else (f"The answers equal those of g{i}, g1.",) for i in range(number)
        ]
        return [*lost, *(replace(samples.graded(f"g{i}", [samples.full()]), flags=flags[i]) for i in range(number))]

    long, short = Markup(report(*several(30))), Markup(report(*several(6)))
    assert re.search(r"It is cut off at line …\. 30 ", long.text) and "Who they are" in long.text
    assert re.search(r"The answers equal those of …\. 15 ", long.text)
    assert re.search(r"x is off limits\. 15 ", long.text)
    assert "Most frequent" not in short.text and "Who they are" not in short.text


def test_the_plot_of_the_exercises_has_a_table_beside_it() -> None:
    said = Markup(report(*samples.class_of(12))).text
    table = said.partition("The same as a table")[2].partition("Misconceptions")[0]
    for name, worth in samples.EXERCISES.items():
        assert re.search(rf"{name} [\d.]+ {worth:g} \d+ \d+ \d+ \d+", table), table


def test_the_report_says_which_scores_moved_and_why() -> None:
    checks, handed = ("Its checks were changed.",), ("Another notebook was handed in.",)
    moves = {
        "ada": [Move("attention", 9.5, 12, checks)], "ben": [Move("attention", 12, 11, checks)],
        "eve": [Move("clones", 0, 8, handed)],
    }  # fmt: skip
    results = [replace(samples.graded(name, [samples.full()]), moved=moved) for name, moved in moves.items()]
    said = Markup(report(*results)).text
    assert re.search(r"attention Its checks were changed\. 1 1 clones Another notebook was handed in\. 1 0", said), said
    assert re.search(r"ada attention 9\.5 12 Its checks were changed\.", said), said
    assert "ada" not in Markup(report(*results, hide_names=True)).text.partition("What moved")[2]
    assert "What moved" not in Markup(report(*map(samples.graded, moves))).text


@pytest.mark.long
def test_a_report_on_ten_thousand_is_made_in_seconds_and_stays_small() -> None:
    students = list(samples.class_of(10_000))
    for hide_names in (False, True):
        started = time.process_time()
        page = report_html(students, title="T", chapter_link=samples.chapter_link, hide_names=hide_names)
        assert time.process_time() - started < 15
        assert len(page) < 500_000
        assert page.count("<tr>") < 2500


def test_a_report_on_nobody_says_so() -> None:
    assert "No submission has a score yet" in report()
    assert "No submission has a score yet" in report(samples.ungradable())

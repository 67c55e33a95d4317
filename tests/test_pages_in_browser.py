"""The pages in a real browser: nothing runs, nothing leaves, nothing scrolls sideways, nobody is shut out."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import page_samples as samples
import pytest

from autograder.pages.feedback import feedback_html
from autograder.pages.panel import panel_html
from autograder.pages.report import report_html
from autograder.results import ExerciseResult

pytestmark = pytest.mark.browser

REQUIRED = os.environ.get("AUTOGRADER_REQUIRE_BROWSER") == "1"
PHONE, WIDE = 390, 1200
TITLE = "Multi-head attention"

# What a notebook does around an output: JupyterLab's colours, and its strong rules for tables, code and paragraphs.
NOTEBOOK = """<!DOCTYPE html><html lang="en"><head><title>Notebook</title>
<meta name="viewport" content="width=device-width"><style>
html {{ font-size: 10px; }}
body {{ margin: 8px; background: {background}; color: {text};
  --jp-layout-color0: {background}; --jp-content-font-color0: {text}; }}
summary {{ display: block; }}
.jp-RenderedHTMLCommon table {{ table-layout: fixed; margin-left: auto; border: none; font-size: 12px; }}
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr {{ padding: .5em; text-align: right;
  white-space: normal; max-width: none; border: none; vertical-align: middle; }}
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) {{ background: #8af; }}
.jp-RenderedHTMLCommon :not(pre) > code {{ background-color: #fa8; padding: 1px 5px; }}
.jp-RenderedHTMLCommon pre {{ background: #fa8; }}
</style></head><body data-jp-theme-light="{light}"><main><h1>Notebook</h1>
<div class="jp-RenderedHTMLCommon">{panel}</div></main></body></html>"""


def _missing(what: str) -> None:
    if REQUIRED:
        pytest.fail(f"{what}, and AUTOGRADER_REQUIRE_BROWSER=1 asks for the browser tests.")
    pytest.skip(f"{what}: the pages were not looked at in a browser.")


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, fetched for this run only."""
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so axe-core cannot be fetched: accessibility was not checked.")
    try:
        subprocess.run([npm, "pack", "axe-core"], cwd=folder, check=True, capture_output=True, timeout=120)
    except (subprocess.SubprocessError, OSError):
        pytest.skip("axe-core could not be fetched from the npm registry: accessibility was not checked.")
    with tarfile.open(next(folder.glob("axe-core-*.tgz"))) as archive:
        source = archive.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()


def notebook(*exercises: ExerciseResult, dark: bool = False, total: bool = False, times: int = 1) -> str:
    panel = panel_html(exercises, chapter_link=samples.chapter_link, recorded=True, total=total)
    return NOTEBOOK.format(
        background="#111111" if dark else "#ffffff",
        text="#ffffff" if dark else "#000000de",
        light="false" if dark else "true",
        panel=panel * times,
    )


PAGES = {
    "panel": lambda dark: notebook(samples.failing(), dark=dark),
    "several panels": lambda dark: notebook(*samples.everything(), dark=dark, times=3),
    "panel with total": lambda dark: notebook(*samples.everything(), dark=dark, total=True),
    "feedback": lambda dark: feedback_html(
        samples.graded(samples.SCRIPT + samples.LONG), chapter_link=samples.chapter_link, title=TITLE
    ),
    "feedback, ungradable": lambda dark: feedback_html(
        samples.ungradable(samples.RIGHT_TO_LEFT + samples.SCRIPT), chapter_link=samples.chapter_link, title=TITLE
    ),
    "feedback, error": lambda dark: feedback_html(samples.error(), chapter_link=samples.chapter_link, title=TITLE),
    "report": lambda dark: report_html(
        [*samples.class_of(80), samples.graded(samples.SCRIPT + samples.LONG), samples.ungradable(samples.LONG)],
        title=TITLE,
        chapter_link=samples.chapter_link,
    ),
}


@cache
def html_of(name: str, dark: bool = False) -> str:
    return PAGES[name](dark)


class Opened:
    """A page in the browser, with what it asked for, what ran, and what it complained of."""

    def __init__(self, browser: Any, html: str, folder: Path, width: int, dark: bool = False, **options: Any) -> None:
        scheme = "dark" if dark else "light"
        self.context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, **options)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.complaints: list[str] = []
        file = folder / "page.html"
        file.write_text(html, encoding="utf-8")
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.goto(file.as_uri())
        self.asked.remove(file.as_uri())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def open_all(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


@pytest.mark.parametrize("name", PAGES)
def test_no_script_runs_and_no_request_leaves(browser: Any, tmp_path: Path, name: str) -> None:
    with Opened(browser, html_of(name), tmp_path, WIDE) as opened:
        opened.open_all()
        opened.page.wait_for_timeout(50)
        assert opened.page.evaluate("window.ran") is None
        assert opened.asked == []
        assert opened.complaints == []


def test_the_policy_of_a_page_stops_what_escaping_would_miss(browser: Any, tmp_path: Path) -> None:
    page = html_of("feedback").replace("<main>", f"<main>{samples.SCRIPT}<style>@import 'https://evil.example'</style>")
    with Opened(browser, page, tmp_path, WIDE) as opened:
        opened.page.wait_for_timeout(50)
        assert opened.page.evaluate("window.ran") is None
        assert len(opened.complaints) >= 2  # the browser says that it refused


@pytest.mark.parametrize("name", PAGES)
def test_nothing_scrolls_sideways(browser: Any, tmp_path: Path, name: str) -> None:
    with Opened(browser, html_of(name), tmp_path, WIDE) as opened:
        opened.open_all()
        for width in (320, PHONE, 768, WIDE):
            opened.page.set_viewport_size({"width": width, "height": 844})
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser: Any, axe: str, tmp_path: Path, name: str, dark: bool) -> None:
    with Opened(browser, html_of(name, dark), tmp_path, PHONE, dark=dark, bypass_csp=True) as opened:
        opened.open_all()
        opened.page.evaluate(axe)
        found = opened.page.evaluate("axe.run({resultTypes: ['violations']}).then(r => r.violations)")
        said = [
            f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]} {v['nodes'][0]['failureSummary']}" for v in found
        ]
        assert not said, "\n".join(said)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_panel_follows_the_theme_of_its_notebook_not_of_the_machine(browser: Any, tmp_path: Path, dark: bool) -> None:
    with Opened(browser, notebook(samples.failing(), dark=dark), tmp_path, WIDE, dark=not dark) as opened:
        background = opened.page.evaluate("getComputedStyle(document.querySelector('.ag')).backgroundColor")
        assert background == ("rgb(17, 17, 17)" if dark else "rgb(255, 255, 255)")


def test_a_panel_keeps_its_tables_from_the_notebooks_rules(browser: Any, tmp_path: Path) -> None:
    with Opened(browser, notebook(samples.failing()), tmp_path, WIDE) as opened:
        row, cell, code = opened.page.evaluate(
            """['.ag-table tbody tr', '.ag-table td', '.ag code'].map(
                s => getComputedStyle(document.querySelector(s)).backgroundColor)"""
        )
        assert row == cell == "rgba(0, 0, 0, 0)"
        assert code != "rgb(255, 170, 136)"


def test_the_first_failure_is_open_and_hints_are_folded(browser: Any, tmp_path: Path) -> None:
    with Opened(browser, notebook(samples.failing()), tmp_path, WIDE) as opened:
        page = opened.page
        assert page.get_by_text("each head holds whole tokens").is_visible()
        hint = page.get_by_text("Cut the last axis first")
        assert not hint.is_visible()
        page.get_by_text("What to try").focus()
        page.keyboard.press("Enter")
        assert hint.is_visible()
        assert not page.get_by_text("Then move the head axis").is_visible()


def test_a_jump_link_brings_its_exercise_into_view(browser: Any, tmp_path: Path) -> None:
    with Opened(browser, html_of("feedback"), tmp_path, PHONE) as opened:
        opened.page.get_by_role("link", name="silence_head").click()
        top = opened.page.locator("#exercise-4").evaluate("e => e.getBoundingClientRect().top")
        assert 0 <= top < 844


def test_a_name_too_long_for_a_phone_breaks_between_its_words(browser: Any, tmp_path: Path) -> None:
    with Opened(browser, html_of("feedback"), tmp_path, PHONE) as opened:
        lines = opened.page.locator(".ag-rows code", has_text="MultiHeadedAttention").evaluate(
            """code => {
                const lines = new Map();
                for (const node of code.childNodes) for (let i = 0; i < (node.data || "").length; i++) {
                    const range = document.createRange();
                    range.setStart(node, i); range.setEnd(node, i + 1);
                    const top = range.getBoundingClientRect().top;
                    lines.set(top, (lines.get(top) || "") + node.data[i]);
                }
                return [...lines.values()];
            }"""
        )
        assert all(line[0].isupper() for line in lines) and "".join(lines) == "MultiHeadedAttention", lines


def test_a_state_that_stands_on_its_own_line_begins_where_its_rule_does(browser: Any, tmp_path: Path) -> None:
    with Opened(browser, html_of("feedback"), tmp_path, WIDE) as opened:
        opened.open_all()
        rules = opened.page.locator(".ag-tight .ag-says")
        apart = set()
        for width in range(200, 600, 20):
            opened.page.set_viewport_size({"width": width, "height": 844})
            apart |= set(
                rules.evaluate_all(
                    """rules => rules.map(rule => {
                        const text = rule.firstElementChild.getClientRects();
                        const state = rule.querySelector(".ag-state").getBoundingClientRect();
                        return state.top < text[text.length - 1].bottom - 4 ? "beside" : state.left - text[0].left;
                    })"""
                )
            )
        assert apart == {"beside", 0}


def test_a_screen_reader_finds_landmarks_headings_and_table_headers(browser: Any, tmp_path: Path) -> None:
    with Opened(browser, html_of("feedback"), tmp_path, WIDE) as opened:
        page = opened.page
        assert page.get_by_role("main").count() == 1 and page.get_by_role("banner").count() == 1
        assert page.get_by_role("heading", level=1).inner_text() == TITLE
        assert page.get_by_role("heading", level=3, name="split_heads").count() == 1
        assert page.get_by_role("columnheader", name="Points").count() >= 1
        assert page.get_by_role("rowheader", name="silence_head").count() == 1


def test_a_printed_page_shows_what_was_folded(browser: Any, tmp_path: Path) -> None:
    with Opened(browser, html_of("feedback"), tmp_path, WIDE, dark=True) as opened:
        hint = opened.page.get_by_text("Cut the last axis first")
        assert not hint.is_visible()
        opened.page.emulate_media(media="print")
        assert hint.evaluate("e => e.getBoundingClientRect().height") > 0
        assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


SCRIPTS = (
    "<script>window.ran = 1</script>",
    "</code></pre></main><img src=x onerror='window.ran = 1'>",
    "`</code><svg/onload=window.ran=1>`",
    "javascript:window.ran=1//<a href='javascript:window.ran=1'>",
    "<style>@import 'https://evil.example'</style><link rel=stylesheet href=https://evil.example>",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe><meta http-equiv=refresh content='0;https://evil.example'>",
    "{{ 7 * 7 }}{% for x in y %}${window.ran=1}",
)


@pytest.fixture(scope="module")
def hostile_pages(course: Any, source: Any, grader: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Pages made of submissions that were really graded: scripts in messages, types, keys, names and reasons."""
    from dataclasses import replace

    from attack_support import ATTACKS, submission

    from autograder.grading.writing import write_result

    folder = tmp_path_factory.mktemp("hostile")
    text = "\n".join(SCRIPTS)
    (attack,) = (one for one in ATTACKS if one.name == "script_in_messages")
    bodies = {
        "message": f"class {'A' * 30}(Exception): pass\ndef split_heads(x, h):\n    raise ValueError({text!r})\n",
        "type": f"def split_heads(x, h):\n    raise type({SCRIPTS[0]!r}, (Exception,), {{}})('no')\n",
        "comment": f"def split_heads(x, h):\n    return x / 0 if False else x + '{SCRIPTS[0]}'  # {SCRIPTS[1]}\n",
        "value": f"def split_heads(x, h):\n    return {text!r}\n",
        "keys": "def predict_shapes(batch, tokens, d_model, h):\n"
        f"    return {{'heads': ({SCRIPTS[0]!r}, 2), {SCRIPTS[1]!r}: 3}}\n",
        "syntax": f"def split_heads(x, h):\n    return {SCRIPTS[0]}\n",
        "end": f"import os\ndef split_heads(x, h):\n    print({text!r})\n    os._exit(3)\n",
    }
    results = []
    for number, (name, code) in enumerate({"attack": attack.code, **bodies}.items()):
        where = "answer predict" if name == "keys" else "answer split_heads"
        result = grader.grade_bytes(
            f"{SCRIPTS[number % len(SCRIPTS)]} {name}",
            submission(course, source, replace(attack, code=code, where=where)),
        )
        assert result.status == "graded"
        results.append(replace(result, flags=(*result.flags, f"Another notebook was handed in: {text}")))
    results.append(grader.ungradable(SCRIPTS[1], f"The file {text} in x.zip cannot be read."))
    pages = {}
    for number, result in enumerate(results):
        write_result(result, source.assignment, folder / str(number))
        (page,) = (folder / str(number)).rglob("*.html")
        pages[f"feedback {number}"] = page.read_text(encoding="utf-8")
    pages["report"] = report_html(results, title=TITLE, chapter_link=samples.chapter_link)
    return pages


def test_pages_of_hostile_submissions_run_nothing_and_ask_for_nothing(
    browser: Any, hostile_pages: dict[str, str], tmp_path: Path
) -> None:
    shown = ""
    for name, html in hostile_pages.items():
        assert "Content-Security-Policy" in html, name
        with Opened(browser, html, tmp_path, WIDE) as opened:
            opened.open_all()
            opened.page.wait_for_timeout(20)
            assert opened.page.evaluate("window.ran") is None, name
            assert (opened.asked, opened.complaints) == ([], []), name
            assert opened.page.locator("script, iframe, img, svg[onload], a[href^=javascript]").count() == 0, name
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= WIDE, name
            shown += opened.page.inner_text("body")
    assert "<script>window.ran = 1</script>" in shown  # as text: a person sees what it was

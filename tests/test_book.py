"""The book: it builds without a warning, proves what it says, and can be used by everyone."""

import ast
import gzip
import itertools
import re
import sys

import pytest
import torch
import yaml
from book_support import (
    BOOK,
    ROOT,
    STRICT,
    build,
    built_book,
    code_cells,
    copy_of_the_book,
    pages_in_order,
    prose,
    served,
    source,
)

PAGES = pages_in_order()
CLAIMS = yaml.safe_load((BOOK / "claims.yml").read_text(encoding="utf-8"))
ORDER = [
    "The question",
    "The picture",
    "By hand",
    "The experiment",
    "The mistake people make",
    "Check yourself",
    "The exercise",
]
NOT_CHAPTERS = {"how-to-use", "exercises", "glossary", "instructors", "questions", "references", "speed"}
CHAPTERS = [page for page in PAGES if page not in NOT_CHAPTERS]

# The sources


@pytest.mark.parametrize("number, page", [(n, page) for n, pages in CLAIMS.items() for page in pages])
def test_a_claim_is_proven_by_an_assert_that_runs_when_its_page_is_built(number, page):
    cells = [code for tags, code in code_cells(page) if f"claim-{number}" in tags]
    assert page in PAGES
    assert cells, f"no cell of {page}.md is tagged claim-{number}"
    assert all(re.search(r"^\s*assert ", code, re.M) for code in cells)


def test_every_claim_of_the_course_is_proven():
    assert sorted(CLAIMS) == list(range(1, 28))


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_chapter_has_the_same_order(page):
    headings = re.findall(r"^## (.+)$", source(page), re.M)
    assert [h for h in headings if h in ORDER] == ORDER


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_asks_two_or_three_questions_and_folds_the_answers(page):
    questions = source(page).split("## Check yourself")[1].split("\n## ")[0]
    assert 2 <= len(re.findall(r"^\d\. ", questions, re.M)) == questions.count("{dropdown} Answer") <= 3


@pytest.mark.parametrize("page", CHAPTERS)
def test_no_answer_becomes_a_list_by_starting_with_a_number(page):
    answers = re.findall(r"\{dropdown\} Answer\n\s*(.+)", source(page))
    assert answers and not [answer for answer in answers if re.match(r"\d+[.)] ", answer)]


@pytest.mark.parametrize("page", PAGES)
def test_no_footnotes_because_they_do_not_survive_translation(page):
    assert "[^" not in prose(page)


@pytest.mark.parametrize("page", PAGES)
def test_a_computed_number_in_the_text_comes_from_code(page):
    typed = re.findall(r"\b\d{1,3}(?:,\d{3})+\b|\b\d\.\d{3,}\b|\b\d(?:\.\d+)?e-\d+\b", prose(page))
    assert not typed, f"typed in {page}.md: {typed}; print it or glue it"


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_settings_fit_the_width_of_the_page(page):
    for block in re.findall(r"```(?:bash|toml|python)\n(.*?)```", source(page), re.S):
        assert max(map(len, block.splitlines())) <= 72, block


@pytest.mark.parametrize("page", PAGES)
def test_every_mask_says_what_true_means(page):
    for _, code in code_cells(page):
        masks = re.findall(r"^.*(?:\btorch\.bool|\.bool\(\)|!= 0\b).*$", code, re.M)
        assert all(re.search(r"#.*\b(True|False): may", line) for line in masks), masks


@pytest.mark.parametrize("page", PAGES)
def test_weights_are_what_the_softmax_makes_and_never_parameters(page):
    text = re.sub(r"“.*?”", "", prose(page))
    wrong = r"weights (?:in W_|and [\d· ]*bias)|(?:\d|shared?|shares? the|same|equal|number of) weights"
    assert re.findall(wrong, text) == []


# What an answer calls and needs no chapter: ways around it exist, or every reader of PyTorch knows it.
KNOWN = {"size", "sqrt", "sum", "range", "zip", "super", "__init__", "permute", "unflatten", "chunk"}


def test_what_an_answer_calls_is_shown_on_the_pages_to_read_first():
    """Those of the exercise and of the ones before it."""
    from sample_class import solved_answers

    from autograder.course import Course

    answers = solved_answers(Course(ROOT).source())
    read_first = dict(re.findall(r"^\| \d+ \| \[`(\w+)`\].*\| ([^|]+) \|$", source("exercises"), re.M))
    assert set(read_first) == set(answers)
    lacking, text = [], ""
    for exercise, code in answers.items():
        text += "".join(source(page) for page in re.findall(r"\((\S+)\.md\)", read_first[exercise]))
        calls = [node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        names = {getattr(call, "attr", getattr(call, "id", "")) for call in calls} - KNOWN - set(answers)
        lacking += [f"{exercise}: {name}" for name in sorted(names) if not re.search(rf"\b{name}\b", text)]
    assert lacking == []


@pytest.mark.parametrize("page", PAGES)
def test_code_cells_are_python(page):
    for _, code in code_cells(page):
        ast.parse(re.sub(r"^:tags:.*\n", "", code))


def test_every_screenshot_is_shown_and_light_and_can_be_taken_anew():
    script = (BOOK / "_publish" / "screenshots.py").read_text(encoding="utf-8")
    shown = {name for page in PAGES for name in re.findall(r"\]\(/book/_static/([\w-]+)\.png\)", source(page))}
    assert shown == {path.stem for path in (BOOK / "_static").glob("*.png")} and len(shown) >= 4
    for name in shown:
        assert f'"{name}"' in script
        assert (BOOK / "_static" / f"{name}.png").stat().st_size < 100_000


def test_the_exercises_page_names_the_points_and_sections_of_the_notebook():
    notebook = ROOT / "exercises" / "multi_head_attention" / "multi_head_attention.ipynb"
    if not notebook.is_file():
        pytest.skip("exercises/ has not been generated")
    import nbformat

    cells = nbformat.read(notebook, 4).cells
    points = {
        cell.metadata.nbgrader.grade_id.removeprefix("check-"): cell.metadata.nbgrader.points
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith("check-")
    }
    told = dict(re.findall(r"^\| \d+ \| \[`(\w+)`\]\([^)]*\) \| (\d+) \|", source("exercises"), re.M))
    assert {name: int(p) for name, p in told.items()} == points
    sections = [re.match(r"## (\d+)\. (.+)", cell.source) for cell in cells if cell.cell_type == "markdown"]
    named = re.findall(r"In the notebook: section (\d+), “(.+?)”", source("exercises"))
    assert named == [section.groups() for section in sections if section]


def test_every_chapter_that_a_check_tells_to_reread_exists():
    settings = (ROOT / "solutions" / "multi_head_attention" / "assignment.toml").read_text(encoding="utf-8")
    named = re.findall(r'^chapter = "(.+)"$', settings, re.M)
    assert named
    assert set(named) <= set(PAGES)


# The build


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    return built_book(tmp_path_factory)


def small_book(tmp_path, text, *options):
    """Build a book of one page with this text."""
    folder = copy_of_the_book(tmp_path / "clone", ["page"])
    (folder / "book" / "page.md").write_text(text, encoding="utf-8")
    return folder, build(folder, *options)


FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"


def test_a_claim_that_does_not_hold_stops_even_the_bare_build(tmp_path):
    _, done = small_book(tmp_path, FRONT + "# A page\n\n```{code-cell} python3\nassert 1 == 2\n```\n")
    assert done.returncode != 0
    assert "AssertionError" in done.stdout + done.stderr


def test_a_picture_without_alt_text_stops_even_the_bare_build(tmp_path):
    _, done = small_book(tmp_path, "# A page\n\n![](/book/_static/favicon.svg)\n")
    assert done.returncode != 0
    assert "no alt text" in done.stdout + done.stderr


def test_without_the_zip_the_exercises_page_says_how_to_make_it(site):
    page = (site / "book" / "exercises.html").read_text(encoding="utf-8")
    assert "autograder release" in re.sub(r"<[^>]+>", "", page)
    assert "_downloads" not in page


def test_with_the_zip_the_exercises_page_offers_it(tmp_path):
    folder = copy_of_the_book(tmp_path / "clone", ["page"])
    (folder / "dist").mkdir()
    (folder / "dist" / "multi_head_attention.zip").write_bytes(b"PK a zip")
    (folder / "book" / "page.md").write_text(
        "# A page\n\n```{with-bundle}\n{bundle-download}`Take it`\n```\n\n```{without-bundle}\nMake it\n```\n",
        encoding="utf-8",
    )
    done = build(folder, *STRICT)
    assert done.returncode == 0, done.stdout + done.stderr
    html = folder / "_build" / "html"
    page = (html / "book" / "page.html").read_text(encoding="utf-8")
    assert "Take it" in page and "Make it" not in page
    link = re.search(r'href="\.\./(_downloads/[^"]*multi_head_attention\.zip)"', page).group(1)
    assert (html / link).read_bytes() == b"PK a zip"


def test_no_page_is_heavy(site):
    """Each page with all it could load, packed as a server sends it."""
    for page in site.glob("book/*.html"):
        text = page.read_text(encoding="utf-8")
        parts = {page} | {
            (page.parent / part.split("?")[0]).resolve()
            for part in re.findall(r'(?:src|href)="(\.\./_[^"]+?\.(?:js|css|svg|png)[^"]*)"', text)
        }
        if "mathjax" in text:
            parts |= set((site / "_static" / "mathjax").rglob("*.js"))
        size = sum(len(gzip.compress(part.read_bytes())) for part in parts)
        assert size < 1_000_000, f"{page.name}: {size:,} bytes"


# In a browser


@pytest.fixture(scope="session")
def address(site):
    with served(site) as where:
        yield where


# What stands beyond the edge of the page or of a box, unless it is code or a table with a name in a box that the tab
# key reaches.
OUT_OF_SIGHT = """() => {
    const edge = document.documentElement.clientWidth;
    const mayScroll = (box) => box.tabIndex === 0 && (box.matches("pre") || box.ariaLabel);
    const found = [];
    for (const e of document.querySelectorAll("article *")) {
        if (!e.checkVisibility() || e.closest("mjx-assistive-mml, svg")) continue;
        const box = e.parentElement.closest("pre, .pst-scrollable-table-container, .figure-scroll");
        const right = box ? Math.min(edge, box.getBoundingClientRect().right) : edge;
        if (e.getBoundingClientRect().right > right + 1 && !(box && mayScroll(box)))
            found.push(`${e.tagName} ${e.className}: ${e.textContent.trim().slice(0, 60)}`);
    }
    return found;
}"""

# Code that is wider than its box. Output wraps.
CUT_OFF = """() => [...document.querySelectorAll("article pre")]
    .filter((pre) => pre.checkVisibility() && pre.scrollWidth > pre.clientWidth)
    .map((pre) => pre.textContent.split("\\n").sort((a, b) => b.length - a.length)[0])"""


@pytest.mark.browser
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_asks_no_other_host_and_raises_no_error_and_fits_its_width(browser, address, page, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab = context.new_page()
    complaints = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    tab.on("response", lambda r: complaints.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    tab.on(
        "request",
        lambda r: None if r.url.startswith((address, "data:", "blob:")) else complaints.append(r.url),
    )
    tab.goto(f"{address}/book/{page}.html")
    tab.wait_for_load_state("networkidle")
    tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert complaints == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.wait_for_timeout(400)  # the theme looks a little later which boxes scroll
    assert tab.evaluate(OUT_OF_SIGHT) == []
    if width == 1280:
        assert tab.evaluate(CUT_OFF) == []
    context.close()


INTERACTIVE = [
    (page, name) for page in PAGES for name in re.findall(r"```\{drawing\} (\w+)\n:interactive:", source(page))
]


@pytest.mark.browser
@pytest.mark.parametrize("page, name", INTERACTIVE)
def test_an_interactive_figure_answers_to_the_keyboard_and_says_what_changed(browser, address, page, name):
    tab = browser.new_page()
    tab.goto(f"{address}/book/{page}.html")
    box = tab.locator(f'.interactive[data-figure="{name}"]')
    assert box.is_visible()
    before, said = box.inner_html(), box.locator("[aria-live]").inner_text()
    control = box.locator("input:checked, input[type=range]").first
    control.focus()
    tab.keyboard.press("Space" if control.get_attribute("type") == "checkbox" else "ArrowRight")
    assert box.inner_html() != before
    assert box.locator("[aria-live]").inner_text() not in ("", said)
    tab.close()


# The status sentence of each state a figure can be put into.
EVERY_STATE = """(box) => {
    const sets = () => [...box.querySelectorAll("fieldset")];
    const said = [];
    function go(which) {
        if (which === sets().length) return said.push(box.querySelector("[aria-live]").textContent);
        const inputs = () => [...sets()[which].querySelectorAll("input")];
        if (inputs()[0].type === "radio") {
            inputs().forEach((_, at) => { inputs()[at].click(); go(which + 1); });
        } else {
            for (let bits = 0; bits < 2 ** inputs().length; bits++) {
                inputs().forEach((input, at) => { if (input.checked !== Boolean((bits >> at) & 1)) input.click(); });
                go(which + 1);
            }
        }
    }
    go(0);
    return said;
}"""


@pytest.mark.browser
@pytest.mark.parametrize("page, name", INTERACTIVE)
def test_each_state_of_a_figure_has_a_sentence_of_its_own(browser, address, page, name):
    tab = browser.new_page()
    tab.goto(f"{address}/book/{page}.html")
    box = tab.locator(f'.interactive[data-figure="{name}"]')
    at_first = box.locator("[aria-live]").inner_text()
    said = box.evaluate(EVERY_STATE)
    assert at_first in said  # before anything is touched, too
    assert len(said) == len(set(said)) >= 5
    wrong = r"[{}]|and \d and|[Hh]eads \d (is|\.)|\b1 (cells|heads|numbers|rows|tokens|columns)\b|undefined"
    for sentence in said:
        assert sentence.endswith(".") and not re.search(wrong, sentence)
    tab.close()


@pytest.mark.browser
@pytest.mark.parametrize("page, name", INTERACTIVE)
def test_an_interactive_figure_answers_to_touch(browser, address, page, name):
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    tab = context.new_page()
    tab.goto(f"{address}/book/{page}.html")
    box = tab.locator(f'.interactive[data-figure="{name}"]')
    said = box.locator("[aria-live]").inner_text()
    box.locator("label:has(input:not(:checked)), label:has(input[type=checkbox])").first.tap()
    assert box.locator("[aria-live]").inner_text() not in ("", said)
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("page, name", INTERACTIVE)
def test_without_scripts_the_still_picture_stands(browser, address, page, name):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/book/{page}.html")
    assert not tab.locator(f'.interactive[data-figure="{name}"]').is_visible()
    stills = tab.locator(f"#figure-{name.replace('_', '-')} .still img")
    assert [still.is_visible() for still in stills.all()] == [True, False]  # light, not dark
    assert len(stills.first.get_attribute("alt").split()) > 10
    context.close()


@pytest.fixture
def arithmetic(browser, address):
    """Runs a figure's own functions in the page that holds it."""
    tab = browser.new_page()

    def run(name, expression):
        page = next(page for page, figure in INTERACTIVE if figure == name)
        if not tab.url.endswith(f"/{page}.html"):
            tab.goto(f"{address}/book/{page}.html")
        return tab.evaluate(f"(() => {{ const f = courseFigures.arithmetic.{name}; return {expression}; }})()")

    yield run
    tab.close()


@pytest.mark.browser
def test_four_linears_counts_as_torch_does(arithmetic):
    for h in (1, 2, 4, 8, 16):
        library = torch.nn.MultiheadAttention(512, h)
        count = sum(p.numel() for p in library.parameters())
        assert arithmetic("four_linears", "f.parameters(512)") == count
        assert arithmetic("four_linears", f"f.cuts({h}).map(c => c * 512)") == [i * 512 / h for i in range(1, h)]


@pytest.mark.browser
def test_split_puts_numbers_where_torch_puts_them(arithmetic):
    x = torch.arange(48).view(1, 3, 16)
    for rule, expected in (
        ("right", x.view(1, 3, 4, 4).transpose(1, 2)),
        ("wrong", x.view(1, 4, 3, 4)),
    ):
        tables = arithmetic("split", f"[0, 1, 2, 3].map(i => f.table(f.{rule}, i))")
        assert tables == expected[0].tolist()


@pytest.mark.browser
def test_mask_axes_aligns_as_torch_does(arithmetic):
    shapes = [(2, 8, 10, 10), (2, 1, 10), (2, 1, 1, 10), (8, 1, 10), (1, 1, 10), (2, 1, 10, 10), (8, 10, 10)]
    for a, b in itertools.product(shapes, shapes):
        try:
            expected = list(torch.broadcast_shapes(a, b))
        except RuntimeError:
            expected = None
        assert arithmetic("mask_axes", f"f.broadcast({list(a)}, {list(b)})") == expected


@pytest.mark.browser
def test_strides_are_those_of_torch(arithmetic):
    heads = torch.arange(12).view(1, 2, 3, 2)
    for name, tensor in (
        ("heads", heads),
        ("transposed", heads.transpose(1, 2)),
        ("copied", heads.transpose(1, 2).contiguous()),
    ):
        state = arithmetic("strides", f"f.STATES.{name}")
        assert state["sizes"] == list(tensor.shape)
        assert state["strides"] == list(tensor.stride())
        strip = torch.as_strided(tensor, (12,), (1,)).tolist()
        assert state["storage"] == strip
        for axis in range(4):
            first = tensor.select(axis, 0).flatten()[0].item()
            passed = [tensor[tuple(n if a == axis else 0 for a in range(4))].item() for n in range(tensor.size(axis))]
            cells = arithmetic("strides", f"f.walk(f.STATES.{name}, {axis})")
            assert [strip[cell] for cell in cells] == passed
            assert passed[0] == first
        if name != "heads":
            try:
                tensor.view(1, 3, 4)
                possible = True
            except RuntimeError:
                possible = False
            assert arithmetic("strides", f"f.canJoin(f.STATES.{name}, 2)") == possible


@pytest.mark.browser
def test_w_o_adds_up_as_torch_does(arithmetic):
    concat, weight, bias = (
        torch.tensor(arithmetic("w_o", f"f.{name}"), dtype=torch.float64) for name in ("CONCAT", "W_O", "BIAS")
    )
    for on in itertools.product([True, False], repeat=4):
        lit = concat * torch.tensor(on).repeat_interleave(2)
        expected = torch.nn.functional.linear(lit, weight.T, bias)
        assert arithmetic("w_o", f"f.output({list(map(int, on))}.map(Boolean))") == expected.tolist()


@pytest.mark.browser
def test_the_still_pictures_show_the_numbers_of_the_scripts(arithmetic):
    sys.path.insert(0, str(BOOK))
    from figures import split, strides, w_o

    assert arithmetic("w_o", "f.output([true, true, true, true])") == w_o.OUTPUT
    assert arithmetic("w_o", "f.W_O") == w_o.W_O
    for name, _, sizes, steps, storage in strides.STATES:
        state = arithmetic("strides", f"f.STATES.{name}")
        assert (state["sizes"], state["strides"], state["storage"]) == (list(sizes), list(steps), storage)
    for rule in ("right", "wrong"):
        for head, row, col in itertools.product(range(4), range(3), range(4)):
            assert arithmetic("split", f"f.{rule}({head}, {row}, {col})") == getattr(split, rule)(head, row, col)

"""What readers do with the book: find, print, take along, read with a keyboard or a screen reader."""

import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from book_support import BOOK, ROOT, built_book, pages_in_order, served, source

from autograder import leaks
from autograder.course import Course

PAGES = pages_in_order()
WITH_CODE = [page for page in PAGES if "```{code-cell}" in source(page)]
NEED_OWN_MODULE = [page for page in WITH_CODE if "from _support.module import" in source(page)]
AXE = "axe-core@4.11.0"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return built_book(tmp_path_factory)


@pytest.fixture(scope="module")
def address(site):
    with served(site) as where:
        yield where


# Links and words


def test_every_link_inside_the_book_leads_somewhere(site):
    texts = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html") if "_static" not in page.parts}
    places = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in texts.items()}
    dead = []
    for page, text in texts.items():
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.exists():
                dead.append(f"{page.name}: {link}")
            elif parts.fragment and target in places and unquote(parts.fragment) not in places[target]:
                dead.append(f"{page.name}: {link} (no such place)")
    assert dead == []


def test_the_words_are_spelled_right():
    codespell = shutil.which("codespell", path=Path(sys.executable).parent)
    if codespell is None:
        pytest.skip("codespell is not installed: the spelling was not checked")
    files = [*BOOK.glob("*.md"), *BOOK.glob("solutions_edition/*.md"), BOOK / "figures" / "labels.py"]
    done = subprocess.run([codespell, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page, section", re.findall(r"\[\]\((\S+?)\.md\), \*(.+?)\*(?=[,. ])", source("questions")))
def test_a_question_is_answered_where_the_index_says(page, section):
    assert re.search(rf"^##+ {re.escape(section)}$", source(page), re.M), f"{page}.md has no section {section!r}"


def test_every_question_says_where_it_is_answered_and_where_it_was_asked():
    blocks = re.findall(r"^\*\*.+?\*\*\n.*?(?=\n\n|\Z)", source("questions"), re.M | re.S)
    assert len(blocks) >= 25
    for block in blocks:
        assert re.search(r"\[\]\(\S+\.md\)", block), block
        (asked,) = re.findall(r"\{asked\}`(.+)`", block)
        assert len(asked.split(", ")) <= 5, block  # a few are enough


# Taking it along


@pytest.mark.parametrize("page", WITH_CODE)
def test_a_page_with_code_has_a_notebook_that_any_program_shows(site, page):
    import nbformat

    notebook = nbformat.read(site / "_downloads" / "notebooks" / f"{page}.ipynb", 4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"```\{|\{[a-z:-]+\}`|\]\(\w+\.md\)", cell.source), cell.source
            for name in re.findall(r"attachment:([\w.]+)", cell.source):
                assert name in cell.attachments
    page_html = (site / "book" / f"{page}.html").read_text(encoding="utf-8")
    assert f'href="../_downloads/notebooks/{page}.ipynb"' in page_html
    asked = any("your own solved notebook" in cell.source for cell in notebook.cells)
    assert asked == (page in NEED_OWN_MODULE) == ("your own solved notebook" in page_html)


RUN_ALL = """
import json, sys, time
for path in sys.argv[1:]:
    for name in [n for n in sys.modules if n.split(".")[0] in ("_support", "figures", "myst_nb")]:
        del sys.modules[name]
    space = {"__name__": path}
    for cell in json.load(open(path, encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
    print("ran", path)
"""


def run_notebooks(site, folder, pages):
    """Run notebooks in one process in a folder that holds nothing of the book."""
    for page in pages:
        shutil.copy(site / "_downloads" / "notebooks" / f"{page}.ipynb", folder)
    names = [f"{page}.ipynb" for page in pages]
    env = {name: words for name, words in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-c", RUN_ALL, *names], cwd=folder, env=env, capture_output=True, text=True, timeout=600
    )


def test_the_notebooks_run_alone(site, tmp_path):
    quick = [page for page in WITH_CODE if page not in (*NEED_OWN_MODULE, "heads-in-training")]
    done = run_notebooks(site, tmp_path, quick)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("ran ") == len(quick)


@pytest.mark.long
def test_the_notebook_that_trains_runs_alone(site, tmp_path):
    done = run_notebooks(site, tmp_path, ["heads-in-training"])
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.long
def test_the_notebooks_that_need_a_module_take_the_readers_own(site, tmp_path):
    from autograder.solved import solved_notebook

    done = run_notebooks(site, tmp_path, NEED_OWN_MODULE)
    assert done.returncode != 0
    assert "Put your solved notebook, multi_head_attention.ipynb" in done.stderr

    solved = json.loads(json.dumps(solved_notebook(Course(ROOT).source())))
    solved["cells"].insert(3, {"cell_type": "code", "metadata": {}, "source": "1 / 0", "outputs": []})
    (tmp_path / "multi_head_attention.ipynb").write_text(json.dumps(solved), encoding="utf-8")
    done = run_notebooks(site, tmp_path, NEED_OWN_MODULE)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "left out: ZeroDivisionError" in done.stdout


def test_the_zip_holds_the_whole_book_and_nothing_else(site):
    with zipfile.ZipFile(site / "_downloads" / "multi-head-attention-book.zip") as archive:
        names = set(archive.namelist())
    assert {f"book/book/{page}.html" for page in PAGES} | {"book/index.html"} <= names
    assert {f"book/_downloads/notebooks/{page}.ipynb" for page in WITH_CODE} <= names
    assert not any(name.endswith(".map") for name in names)
    assert 'href="../_downloads/multi-head-attention-book.zip"' in (site / "book" / "how-to-use.html").read_text(
        "utf-8"
    )


def test_pages_search_index_and_downloads_hold_no_answer(site):
    wanted = [secret for secret in leaks.secrets(Course(ROOT).source()) if not secret.may_be_taught]
    assert [str(leak) for leak in leaks.find([site], wanted)] == []


# In a browser


@pytest.fixture(scope="session")
def axe():
    """The accessibility checker's script, from npm."""
    folder = ROOT / "build" / "tools"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    version = script.parent / "package.json"
    if not script.is_file() or json.loads(version.read_text())["version"] != AXE.split("@")[1]:
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("no npm on this machine: axe did not look at the pages")
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--prefix", ".", "--no-save", "--no-audit", "--no-fund", AXE]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            pytest.skip("npm's registry did not answer: axe did not look at the pages")
        if done.returncode != 0:
            pytest.skip(f"npm could not fetch {AXE}: axe did not look at the pages")
    return script.read_text(encoding="utf-8")


# All rules that axe has, best practice and experimental ones included; of WCAG those for A and AA.
RULES = """async (only) => {
    const rules = axe.getRules().filter((rule) => !rule.tags.includes("wcag2aaa"));
    const enabled = Object.fromEntries(rules.map((rule) => [rule.ruleId, {enabled: !only || rule.ruleId === only}]));
    const result = await axe.run({rules: enabled, resultTypes: ["violations"]});
    return {violations: result.violations, looked_at: result.passes.length};
}"""


def found_by_axe(browser, axe, url, scheme, width, only=""):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(url)
    tab.wait_for_load_state("networkidle")
    tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    tab.wait_for_timeout(350)  # the theme fades a folded answer in
    tab.evaluate(axe)
    result = tab.evaluate(RULES, only)
    context.close()
    assert result["looked_at"] > (0 if only else 20)
    return [
        f"{scheme}, {width}: {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in result["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.browser
@pytest.mark.parametrize("page", [*PAGES, "../search"])
def test_axe_finds_nothing_in_light_and_dark(browser, address, axe, page):
    url = f"{address}/book/{page}.html"
    found = found_by_axe(browser, axe, url, "light", 1280)
    found += found_by_axe(browser, axe, url, "dark", 1280, only="color-contrast")  # nothing else is different there
    assert found == []


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("page", [*PAGES, "../search"])
def test_axe_finds_nothing_on_a_phone(browser, address, axe, page):
    assert found_by_axe(browser, axe, f"{address}/book/{page}.html", "light", 390) == []


FOLDED = [page for page in PAGES if "```{dropdown}" in source(page)]


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_a_name_or_an_option_is_broken_only_where_a_line_is_too_short_for_it(browser, address, width):
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        page, words = context.new_page(), 0
        for name in PAGES:
            page.goto(f"{address}/book/{name}.html")
            found = page.evaluate(
                """() => [...document.querySelectorAll(".bd-article code .pre")].map(word => {
                    const letters = document.createRange();
                    letters.selectNodeContents(word);
                    return [word.textContent, letters.getClientRects().length];
                })"""
            )
            found = [(word, lines) for word, lines in found if re.fullmatch(r"-*\w+", word)]
            words += len(found)
            assert [word for word, lines in found if lines > 1 and len(word) < 36] == [], name
        assert words > 100


# Of what a sentence speaks, on a phone: the page, words that only its box holds, and what must be seen in that box; ""
# is all of it.
POINTED_AT = [
    ("clones", "pre", "self.linears = clones(", ["4"]),
    ("notation", "table", "an error", ["an error", "result"]),
    ("attention", "table", "largest weight", [""]),
    ("masks", "table", "numbers stored", ["numbers stored"]),
    ("merging", "table", "strides", ["strip"]),
    ("whole-module", "table", "W_i^Q", ["difference"]),
    ("heads-in-training", "table", "Transformer", ["student", "Transformer", "carefully"]),
    ("speed", "table", "one warm process", ["memory"]),
    ("speed", "table", "100,000", ["Dask"]),
]

# Which of the words in a box lie beyond its visible part, as it stands before anybody scrolls it; null for none found.
BEYOND = """(box, words) => {
    const edge = box.getBoundingClientRect().left + box.clientLeft + box.clientWidth;
    const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
        if (!texts.currentNode.data.trim() || !texts.currentNode.data.includes(words)) continue;
        const around = texts.currentNode.parentElement;
        found.push((around.closest("td, th") ?? around).getBoundingClientRect().right);
    }
    return found.length ? found.filter((right) => right > edge + 1).length : null;
}"""


@pytest.mark.browser
@pytest.mark.parametrize("page, kind, box, words", POINTED_AT)
def test_what_a_sentence_points_at_is_seen_on_a_phone(browser, address, page, kind, box, words):
    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        tab = context.new_page()
        tab.goto(f"{address}/book/{page}.html")
        kind = {"pre": "pre", "table": ".pst-scrollable-table-container"}[kind]
        holder = tab.locator(f"article {kind}", has_text=box).first
        assert {word: holder.evaluate(BEYOND, word) for word in words} == dict.fromkeys(words, 0)


# The colour of the last three columns of a picture, on average.
LAST_COLUMNS = """async (picture) => {
    const image = await createImageBitmap(await (await fetch(picture)).blob());
    const canvas = new OffscreenCanvas(3, image.height);
    const brush = canvas.getContext("2d");
    brush.drawImage(image, 3 - image.width, 0);
    const bytes = brush.getImageData(0, 0, 3, image.height).data.filter((_, at) => at % 4 < 3);
    return bytes.reduce((sum, byte) => sum + byte, 0) / bytes.length;
}"""


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page, kind", [("attention", "pre"), ("speed", ".pst-scrollable-table-container")])
def test_a_box_shows_at_its_edge_that_there_is_more(browser, address, page, kind, scheme):
    with browser.new_context(viewport={"width": 300, "height": 800}, color_scheme=scheme) as context:
        tab = context.new_page()
        tab.goto(f"{address}/book/{page}.html")
        tab.evaluate("document.querySelectorAll('article pre').forEach((pre) => { pre.style.border = 'none'; })")
        boxes = tab.locator(f"article {kind}")
        wide = next(box for box in boxes.all() if box.evaluate("(box) => box.scrollWidth > box.clientWidth + 40"))

        def edge():
            picture = base64.b64encode(wide.screenshot()).decode()
            return tab.evaluate(LAST_COLUMNS, f"data:image/png;base64,{picture}")

        before = edge()
        wide.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
        assert abs(edge() - before) > 25


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_magnifier_leaves_the_typed_words_free(browser, address, width):
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        tab = context.new_page()
        for place in ("search.html?q=contiguous", "book/w_o.html"):
            tab.goto(f"{address}/{place}")
            if "search" not in place:
                tab.keyboard.press("Control+k")
            form = tab.locator("#pst-search-dialog[open] form, .bd-search-container form").locator("visible=true")
            field = form.locator("input")
            inside = field.evaluate("(field) => parseFloat(getComputedStyle(field).paddingLeft)")
            words = field.bounding_box()["x"] + inside
            magnifier = form.locator(".fa-magnifying-glass").bounding_box()
            assert magnifier["x"] + magnifier["width"] <= words
            assert magnifier["x"] >= form.bounding_box()["x"]


@pytest.mark.browser
@pytest.mark.parametrize("page", FOLDED)
def test_every_question_opens_by_keyboard_and_by_mouse(browser, address, page):
    tab = browser.new_page()
    tab.goto(f"{address}/book/{page}.html")
    answers = tab.locator("#check-yourself details")
    assert answers.count() == source(page).count("{dropdown} Answer")
    for answer in answers.all():
        summary, body = answer.locator("summary"), answer.locator("p").last
        assert not body.is_visible()
        summary.focus()
        tab.keyboard.press("Enter")
        assert body.is_visible()
        assert body.inner_text().strip()
        tab.keyboard.press("Space")
        assert not body.is_visible()
        summary.click()
        assert body.is_visible()
    tab.close()


@pytest.mark.browser
@pytest.mark.parametrize("page", FOLDED)
def test_every_question_and_control_is_reached_by_the_tab_key(browser, address, page):
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(f"{address}/book/{page}.html")
    wanted = tab.evaluate(
        """() => {
            const list = [...document.querySelectorAll(
                '#check-yourself summary, .interactive input[type=checkbox],'
                + ' .interactive input:checked, .interactive input[type=range]')];
            list.forEach((e, i) => { e.dataset.wanted = i; });
            document.querySelector('article').setAttribute('tabindex', '-1');
            document.querySelector('article').focus();
            return list.length;
        }"""
    )
    reached = set()
    for _ in range(300):
        tab.keyboard.press("Tab")
        at = tab.evaluate("document.activeElement.dataset.wanted ?? null")
        if at is not None:
            reached.add(at)
            assert tab.evaluate(
                """() => { const e = document.activeElement;
                    const ring = e.matches('input') ? e.nextElementSibling ?? e : e;
                    const style = getComputedStyle(ring);
                    return style.outlineStyle !== 'none' || style.boxShadow !== 'none'; }"""
            ), "no focus ring"
        if len(reached) == wanted:
            break
    assert len(reached) == wanted
    tab.close()


@pytest.mark.browser
@pytest.mark.parametrize("words, page", [("contiguous", "merging"), ("unsqueeze", "masks"), ("deepcopy", "clones")])
def test_the_search_finds(browser, address, words, page):
    tab = browser.new_page()
    tab.goto(f"{address}/search.html?q={words}")
    tab.wait_for_selector("#search-results li a")
    tab.wait_for_timeout(300)
    links = [link.get_attribute("href") for link in tab.locator("#search-results li a").all()]
    assert any(f"book/{page}.html" in link for link in links[:4]), links
    tab.close()


@pytest.mark.browser
def test_on_paper_stand_the_text_and_the_answers_without_menus(browser, address):
    tab = browser.new_page()
    tab.goto(f"{address}/book/splitting-heads.html")
    tab.emulate_media(media="print")
    for gone in (
        ".bd-sidebar-primary",
        ".bd-sidebar-secondary",
        ".bd-header-article",
        ".prev-next-area",
        ".interactive",
    ):
        assert not any(part.is_visible() for part in tab.locator(gone).all()), gone
    for there in ("#check-yourself details p", ".drawing-box .still img.only-light"):
        assert all(part.is_visible() for part in tab.locator(there).all()), there
    assert tab.locator("img.only-dark").first.is_hidden()
    tab.close()


@pytest.fixture
def opened(browser, site):
    """A tab that shows pages of the book from the file system, and all that its console complains of."""
    with browser.new_context() as context:
        tab, complaints = context.new_page(), []
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        yield tab, site, complaints
        assert complaints == []


@pytest.mark.browser
def test_the_book_works_from_the_file_system(opened):
    tab, site, _ = opened
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_url("**/book/how-to-use.html")
    tab.goto((site / "book" / "w_o.html").as_uri())
    tab.wait_for_load_state("networkidle")
    assert tab.locator(".interactive").first.is_visible()


@pytest.mark.browser
def test_the_search_finds_pages_from_the_file_system_and_tries_to_fetch_none(opened):
    tab, site, _ = opened
    tab.goto((site / "search.html").as_uri() + "?q=contiguous")
    tab.wait_for_selector("#search-results li a")
    tab.wait_for_timeout(300)
    links = [link.get_attribute("href") for link in tab.locator("#search-results li a").all()]
    assert any("book/merging.html" in link for link in links[:4]), links
    tab.locator("#search-results li a").first.click()
    tab.wait_for_url("**/book/*.html*")


@pytest.mark.browser
@pytest.mark.parametrize("key", ["", "Enter"])
@pytest.mark.parametrize("page", ["masks", "whole-module"])
def test_a_notebook_is_saved_as_one_from_the_file_system(opened, page, key):
    tab, site, _ = opened
    tab.goto((site / "book" / f"{page}.html").as_uri())
    link = tab.get_by_role("link", name="Download this page as a notebook")
    with tab.expect_download(timeout=10_000) as found:
        link.press(key) if key else link.click()
    assert found.value.suggested_filename == f"{page}.ipynb"
    saved = Path(found.value.path()).read_bytes()
    assert saved == (site / "_downloads" / "notebooks" / f"{page}.ipynb").read_bytes()
    assert tab.url.endswith(f"/{page}.html")


@pytest.mark.browser
def test_a_notebook_is_saved_as_one_from_a_server(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/book/masks.html")
        with tab.expect_download(timeout=10_000) as found:
            tab.get_by_role("link", name="Download this page as a notebook").click()
        assert found.value.suggested_filename == "masks.ipynb"

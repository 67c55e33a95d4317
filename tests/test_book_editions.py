"""The solutions edition shows the whole answer, grown step by step; the learners' edition refuses it."""

import ast
import html
import re
import sys

import pytest
import yaml
from book_support import BOOK, ROOT, STRICT, build, built_book, copy_of_the_book

from autograder import leaks
from autograder.course import Course

sys.path[:0] = [str(BOOK / "_ext"), str(BOOK / "_publish")]

import edition  # noqa: E402
from course_book import solutions_edition  # noqa: E402

CHAPTER = BOOK / "solutions_edition" / "line-by-line.md"
ANSWERS = solutions_edition.answers()


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    """The chapter's page, built alone with the settings of the solutions edition."""
    folder = copy_of_the_book(tmp_path_factory.mktemp("edition") / "clone")
    source = solutions_edition.SOURCE.relative_to(ROOT)
    (folder / source).parent.mkdir(parents=True)
    (folder / source).write_bytes((ROOT / source).read_bytes())
    config, _ = edition.settings_of_the_solutions_edition(folder)
    (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    toc = {"format": "jb-book", "root": "book/solutions_edition/line-by-line"}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    done = build(folder, *STRICT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "_build" / "html" / "book" / "solutions_edition" / "line-by-line.html"


def steps():
    return [
        yaml.safe_load(block)
        for block in re.findall(r"```\{growing-step\} MultiHeadedAttention\n(.*?)```", CHAPTER.read_text("utf-8"), re.S)
    ]


def texts_of_the_steps():
    lines = ANSWERS["MultiHeadedAttention"]
    shown, texts = solutions_edition.always_shown(lines), []
    for step in steps():
        shown |= {solutions_edition.line_with(lines, piece) for piece in step.get("add", [])}
        texts.append(solutions_edition.grown(lines, shown, step.get("cut"), step.get("returns")))
    return texts


def test_the_solutions_edition_has_every_chapter_of_the_learners_and_one_more():
    config, toc = edition.settings_of_the_solutions_edition(ROOT)
    learners = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert toc["parts"][:-1] == learners["parts"]
    assert toc["parts"][-1]["chapters"] == [{"file": "book/solutions_edition/line-by-line"}]
    assert config["sphinx"]["config"]["course_book_edition"] == "solutions"


def test_the_chapter_holds_no_line_of_an_answer_itself():
    found = leaks.find_in_text(CHAPTER.read_text(encoding="utf-8"), leaks.secrets(Course(ROOT).source()))
    assert [str(leak) for leak in found] == []


def test_every_line_of_every_answer_is_shown_when_built(chapter):
    page = re.sub(r"<[^>]+>", "", chapter.read_text(encoding="utf-8"))
    page = re.sub(r"\s|^[+-]", "", html.unescape(page), flags=re.M)
    for exercise, lines in ANSWERS.items():
        for line in lines:
            assert re.sub(r"\s", "", line) in page, f"{exercise}: {line}"


def test_every_line_of_the_module_is_explained():
    lines, explained = ANSWERS["MultiHeadedAttention"], set()
    for at, count in re.findall(
        r"\{answer-lines\} MultiHeadedAttention\n:at: (.+)\n(?::count: (\d+)\n)?", CHAPTER.read_text(encoding="utf-8")
    ):
        first = solutions_edition.line_with(lines, at)
        explained |= set(range(first, first + int(count or 1)))
    assert explained | solutions_edition.always_shown(lines) == set(range(len(lines)))


def test_every_step_is_python_and_the_last_is_the_source():
    texts = texts_of_the_steps()
    assert len(texts) >= 8
    for text in texts:
        ast.parse("\n".join(text))
    assert texts[-1] == ANSWERS["MultiHeadedAttention"]


def test_every_step_changes_something_and_is_shown_as_a_difference(chapter):
    page = chapter.read_text(encoding="utf-8")
    texts = texts_of_the_steps()
    assert page.count("highlight-diff") == len(texts)
    for before, now in zip([[], *texts], texts, strict=False):
        assert any(line.startswith("+") for line in solutions_edition.difference(before, now))
    assert 'class="gi">+ ' in page and 'class="gd">- ' in page


def test_each_step_says_what_it_gave_and_the_last_agrees_with_pytorch(chapter):
    page = re.sub(r"<[^>]+>", "", chapter.read_text(encoding="utf-8"))
    assert all(step["show"] for step in steps())
    shapes = re.findall(r"tuple\(module\(x, x, x.*\)\.shape\)\n    (\(.+\))", page)
    assert shapes == [
        *["(2, 10, 512)"] * 2,
        "(2, 10, 8, 64)",
        *["(2, 8, 10, 64)"] * 3,
        *["(2, 10, 512)"] * 2,
    ]
    assert "Error" not in page.split("Step 4:")[2 if page.count("Step 4:") > 2 else 1]
    assert re.search(r"allclose\(module.*\n    True", page)


def test_the_learners_edition_refuses_a_page_that_shows_an_answer(tmp_path):
    folder = copy_of_the_book(tmp_path / "clone", ["page"])
    (folder / "book" / "page.md").write_text("# A page\n\n```{answer} attention\n```\n", encoding="utf-8")
    done = build(folder)
    assert done.returncode != 0
    assert "solutions edition only" in done.stdout + done.stderr


def test_the_learners_edition_has_no_answer(tmp_path_factory):
    site = built_book(tmp_path_factory)
    assert not list(site.rglob("*line-by-line*"))
    wanted = [secret for secret in leaks.secrets(Course(ROOT).source()) if not secret.may_be_taught]
    assert [str(leak) for leak in leaks.find([site], wanted)] == []


def test_the_search_for_leaks_would_find_the_chapter(chapter):
    wanted = leaks.secrets(Course(ROOT).source())
    found = {leak.what for leak in leaks.find([chapter], wanted)}
    assert {"the answer of attention", "the answer of split_heads", "the answer of mix_heads"} & found

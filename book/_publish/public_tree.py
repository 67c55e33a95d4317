"""Writes the public tree: the book with its pages already run, the exercises and the engine, fit to be a repository.

    python book/_publish/public_tree.py build/public

It takes what `make release` and `make book` have made. It holds nothing of `solutions/`: the tree is put together from
a list of what may be in it, and then searched for every answer. Where one is found, nothing is written.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
import yaml
from jupyter_cache import get_cache

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = Path(__file__).with_name("public")
BOOK_PARTS = ("measured", "_ext", "_static", "_support", "figures", "claims.yml")
SKIP = shutil.ignore_patterns("__pycache__", "*.pyc", ".ipynb_checkpoints", "drawn", "solutions_edition.py")
NEEDED_BY_THE_BOOK = ("torch", "numpy", "ipykernel", "jupytext", "jupyter-book", "pytest", "nbformat")


def pages(root):
    """The book's documents, as in `_toc.yml`."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]


def executed_page(root, document, with_code):
    """A page with its results, as notebook JSON; None if it has no code. Links go to notebooks where pages became such.

    The results, values for the text among them, come from the cache that `make book` keeps.
    """
    path = root / "_build" / "jupyter_execute" / f"{document}.ipynb"
    if document not in with_code:
        return None
    _, page = get_cache(root / ".jupyter_cache").merge_match_into_notebook(nbformat.read(path, 4))
    for name in ("file_format", "source_map"):  # true of the text that the page was, not of a notebook
        page.metadata.pop(name, None)
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = links_to_notebooks(cell.source, with_code)
    return nbformat.writes(page) + "\n"


def links_to_notebooks(text, with_code):
    """Markdown whose links to pages with code end in .ipynb."""
    names = "|".join(re.escape(Path(document).name) for document in with_code)
    return re.sub(rf"\]\(({names})\.md\)", r"](\1.ipynb)", text)


def settings(root):
    """`_config.yml` of the public tree: pages are not run again."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    config["execute"] = {"execute_notebooks": "off"}
    config["exclude_patterns"] += ["notebooks", "binder", "README.md"]
    return yaml.safe_dump(config, allow_unicode=True, sort_keys=False)


def requirements(root):
    """The lines of requirements.txt that the book needs, with their pins and reasons."""
    lines = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if re.split("[=<>~! ]", line)[0] in NEEDED_BY_THE_BOOK) + "\n"


def write(root, tree):
    """Fill the empty folder `tree`. Raises FileNotFoundError in words where the book or the zip is not made yet."""
    built, bundle = root / "_build", root / "dist" / "multi_head_attention.zip"
    for path, target in ((built / "html", "make book"), (bundle, "make release")):
        if not path.exists():
            raise FileNotFoundError(f"{path.relative_to(root)} is not there yet: run `{target}`.")
    (tree / "book").mkdir()
    for name in BOOK_PARTS:
        if (root / "book" / name).is_dir():
            shutil.copytree(root / "book" / name, tree / "book" / name, ignore=SKIP)
        else:
            shutil.copy(root / "book" / name, tree / "book" / name)
    extension = tree / "book" / "_ext" / "course_book" / "__init__.py"
    extension.write_text(extension.read_text(encoding="utf-8").replace(" solutions_edition,", ""), encoding="utf-8")
    with_code = [page for page in pages(root) if "```{code-cell}" in (root / f"{page}.md").read_text(encoding="utf-8")]
    for document in pages(root):
        page = executed_page(root, document, with_code)
        if page is None:
            text = links_to_notebooks((root / f"{document}.md").read_text(encoding="utf-8"), with_code)
            (tree / f"{document}.md").write_text(text, encoding="utf-8")
        else:
            (tree / f"{document}.ipynb").write_text(page, encoding="utf-8")
    shutil.copytree(built / "html" / "_downloads" / "notebooks", tree / "notebooks")
    shutil.copytree(root / "exercises", tree / "exercises", ignore=SKIP)
    shutil.copytree(root / "autograder", tree / "autograder", ignore=SKIP)
    (tree / "dist").mkdir()
    shutil.copy(bundle, tree / "dist")
    for name in ("LICENSE", "_toc.yml"):
        shutil.copy(root / name, tree / name)
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    (tree / "pyproject.toml").write_text(project.split("[tool.ruff]")[0].rstrip() + "\n", encoding="utf-8")
    (tree / "_config.yml").write_text(settings(root), encoding="utf-8")
    (tree / "requirements.txt").write_text(requirements(root), encoding="utf-8")
    (tree / "binder").mkdir()
    shutil.copy(TEMPLATES / "binder-requirements.txt", tree / "binder" / "requirements.txt")
    shutil.copy(TEMPLATES / "README.md", tree / "README.md")
    shutil.copytree(TEMPLATES / "tests", tree / "tests", ignore=SKIP)
    (tree / ".github" / "workflows").mkdir(parents=True)
    shutil.copy(TEMPLATES / "workflows" / "book.yml", tree / ".github" / "workflows" / "book.yml")
    (tree / ".gitignore").write_text(
        "_build/\n.jupyter_cache/\n.venv/\n__pycache__/\nbook/figures/drawn/\n", encoding="utf-8"
    )


def leaking(root, tree):
    """Sentences about answers found in the tree. The pages may show a mistake that people make."""
    from autograder import leaks
    from autograder.course import Course

    secrets = leaks.secrets(Course(root).source())
    taught = [tree / "book", tree / "notebooks"]
    others = [path for path in sorted(tree.iterdir()) if path not in taught]
    found = leaks.find(others, secrets)
    found += leaks.find(taught, [secret for secret in secrets if not secret.may_be_taught])
    return [str(leak) for leak in found]


def publish(root, target):
    """Make the tree at `target` anew, but for a `.git` in it. Returns what leaks; then nothing is written."""
    with tempfile.TemporaryDirectory(prefix="public-") as temporary:
        tree = Path(temporary) / "tree"
        tree.mkdir()
        write(root, tree)
        found = leaking(root, tree)
        if not found:
            target.mkdir(parents=True, exist_ok=True)
            for old in target.iterdir():
                if old.name != ".git":
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
            shutil.copytree(tree, target, dirs_exist_ok=True)
    return found


def main():
    target = Path(sys.argv[1])
    try:
        found = publish(ROOT, target)
    except FileNotFoundError as problem:
        sys.exit(str(problem))
    if found:
        sys.exit("Nothing was written:\n" + "\n".join(found))
    print(f"The public tree: {target}")


if __name__ == "__main__":
    main()

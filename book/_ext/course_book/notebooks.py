"""Each page with code as a notebook to take along, and links that open it on a server.

The notebook needs nothing of the book: the helpers that draw its tables stand in its first cell. Where a page needs a
working module, the notebook takes the reader's own from the notebook that they solved.

Colab and Binder open a public repository only. Which one, is said by the environment while the book is built:
BOOK_REPOSITORY (`owner/name` on GitHub) and BOOK_BRANCH. Without them there are no such links. BOOK_ADDRESS is where
the book will stand.
"""

import base64
import json
import os
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxRole

from . import BOOK
from .drawings import DRAWN, labels_of

FOLDER = "notebooks"  # of the finished ones: in _downloads, and in the public tree
OWN_MODULE = "_support.own_module"

TAKE_ALONG = """

---

{page-notebook}`Download this page as a notebook`
"""
OWN = """
It takes the module from your own solved notebook, `multi_head_attention.ipynb`. Put it beside this one.
"""
ELSEWHERE = """
Or open it on a server: {page-colab}`Colab`, {page-binder}`Binder`.
"""


def repository():
    """(owner/name, branch) of the public repository that the book is built in, or None."""
    name = os.environ.get("BOOK_REPOSITORY", "")
    return (name, os.environ.get("BOOK_BRANCH", "main")) if name else None


def needs_own_module(text):
    return "from _support.module import" in text


def has_code(text):
    return "```{code-cell}" in text or text.lstrip().startswith("{")


# Making a notebook


def helpers_of(text):
    """{module: code} of the book's helpers that this text imports, and theirs."""
    found = {}

    def add(code):
        for package, name, names in re.findall(r"from (_support|figures)(?:\.(\w+))? import (.+)", code):
            for module in [name] if name else [word.strip() for word in names.split(",")]:
                if f"{package}.{module}" not in found:
                    own = (package, module) == ("_support", "module")
                    file = BOOK.joinpath(*OWN_MODULE.split(".")) if own else BOOK / package / module
                    source = file.with_suffix(".py").read_text(encoding="utf-8")
                    found[f"{package}.{module}"] = ""  # its place; imports of its own come before it
                    add(source)
                    del found[f"{package}.{module}"]
                    found[f"{package}.{module}"] = source

    add(text)
    return found


def first_cell(text):
    """Code that makes the helpers importable where the book is not."""
    lines = [
        "# The book's helpers for tables and pictures. Run this cell first; you need not read it.",
        "import sys",
        "import types",
        "",
        "",
        "def helper(name, code):",
        "    module = types.ModuleType(name)",
        "    module.__path__ = []",
        "    sys.modules[name] = module",
        "    exec(code, module.__dict__)",
        '    if "." in name:',
        '        package, _, last = name.rpartition(".")',
        "        setattr(sys.modules[package], last, module)",
        "",
        "",
        'helper("_support", "")',
        'helper("figures", "")',
        'helper("myst_nb", "def glue(name, value, display=False):\\n    pass")',
    ]
    lines += [f"helper({name!r}, {source!r})" for name, source in helpers_of(text).items()]
    return "\n".join(lines)


def plain(markdown, titles, values, language):
    """(Markdown that any notebook program shows, attachments): the book's own directives written out."""
    attachments = {}

    def drawing(match):
        name, caption = match.group(1), match.group(2)
        picture = (DRAWN / f"{name}.light.svg").read_bytes()
        attachments[f"{name}.svg"] = {"image/svg+xml": base64.b64encode(picture).decode()}
        return f"![{labels_of(name, language)['alt']}](attachment:{name}.svg)\n\n{caption.strip()}"

    def fold(match):
        indent, title, body = match.groups()
        body = re.sub(rf"^{indent}", "", body, flags=re.M).strip()
        lines = f"<details><summary>{title}</summary>\n\n{body}\n\n</details>".splitlines()
        return "\n".join((indent + line).rstrip() for line in lines)

    def link(match):
        words, target = match.groups()
        page = target.removesuffix(".md")
        return f"*{words or titles.get(page, page)}*" if page in titles or target.startswith("#") else match.group()

    text = re.sub(r"```\{drawing\} (\w+)\n(?::interactive:\n)?(.*?)```", drawing, markdown, flags=re.S)
    text = re.sub(r"^( *)```\{dropdown\} (.+?)\n(.*?)^ *```$", fold, text, flags=re.M | re.S)
    text = re.sub(r"\{glue:text\}`(\w+)`", lambda m: values[m.group(1)], text)
    text = re.sub(r"\{(sub|sup)\}`([^`]*)`", r"<\1>\2</\1>", text)
    text = re.sub(r"(?<!!)\[([^\]\n]*)\]\(([^)\s]+)\)", link, text)
    text = re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.M)
    return text, attachments


def notebook_of(text, titles, values, language="en"):
    """A page's source as a notebook, a dict in nbformat's form."""
    import jupytext

    page = jupytext.reads(text, fmt="md:myst")
    cells = []
    for cell in page.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            source, attachments = plain(cell.source, titles, values, language)
            cells.append({"cell_type": "markdown", "metadata": {}, "source": source})
            if attachments:
                cells[-1]["attachments"] = attachments
        else:
            cells.append(code_cell(cell.source, hidden=bool({"remove-cell", "remove-input"} & set(tags))))
    if helpers_of(text):
        cells.insert(1, code_cell(first_cell(text), hidden=True))
        if needs_own_module(text):
            cells.insert(1, {"cell_type": "markdown", "metadata": {}, "source": OWN.strip()})
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def code_cell(source, hidden=False):
    metadata = {"jupyter": {"source_hidden": True}, "cellView": "form"} if hidden else {}
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": [], "source": source}


def glued(record):
    """{name: words} that a page's code has given to its text, from what MyST-NB keeps of the page."""
    values = {}
    for name, output in json.loads(record.read_text(encoding="utf-8")).items() if record.is_file() else ():
        for kind, words in output["data"].items():
            if kind.endswith("text/plain"):
                words = "".join(words)
                values[name] = words[1:-1] if words[:1] in ("'", '"') else words
    return values


# In the book


class PageLink(SphinxRole):
    """A link from a page to its notebook: here, on Colab or on Binder."""

    def run(self):
        page = Path(self.env.docname).name
        name, branch = repository() or ("", "")
        address = {
            "page-notebook": f"../_downloads/{FOLDER}/{page}.ipynb",
            "page-colab": f"https://colab.research.google.com/github/{name}/blob/{branch}/{FOLDER}/{page}.ipynb",
            "page-binder": f"https://mybinder.org/v2/gh/{name}/{branch}?urlpath=lab/tree/{FOLDER}/{page}.ipynb",
        }[self.name]
        link = nodes.reference(self.text, self.text, refuri=address, internal=False)
        return [link], []


def add_links(app, docname, source):
    """Behind the last line of a page with code: where its notebook is."""
    text = source[0]
    if not has_code(text) or "/" not in docname:
        return
    more = TAKE_ALONG + (OWN if needs_own_module(text) else "") + (ELSEWHERE if repository() else "")
    if text.lstrip().startswith("{"):  # the public tree has the pages as executed notebooks
        page = json.loads(text)
        page["cells"].append({"cell_type": "markdown", "metadata": {}, "id": "take-along", "source": more})
        source[0] = json.dumps(page)
    else:
        source[0] = text.rstrip() + more


def take_repository(app, config):
    """Buttons to the repository that the book is built in, where the environment names one."""
    if repository():
        name, branch = repository()
        config.html_theme_options.update(
            repository_url=f"https://github.com/{name}",
            repository_branch=branch,
            use_repository_button=True,
            use_issues_button=True,
        )
    config.html_baseurl = os.environ.get("BOOK_ADDRESS", config.html_baseurl)


def pages_with_code(app):
    for docname in sorted(app.env.found_docs):
        path = Path(app.env.doc2path(docname))
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".md" and has_code(text):
            yield docname, path, text


def write_all(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_downloads" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    ready = BOOK.parent / FOLDER
    if ready.is_dir():
        shutil.copytree(ready, folder, dirs_exist_ok=True)
    titles = {Path(name).name: title.astext() for name, title in app.env.titles.items()}
    for docname, _, text in pages_with_code(app):
        values = glued(Path(app.outdir).parent / "jupyter_execute" / f"{docname}.glue.json")
        try:
            notebook = notebook_of(text, titles, values, app.config.language)
        except KeyError as missing:
            raise ExtensionError(
                f"{docname}: no value named {missing} was computed, so its notebook lacks it."
            ) from None
        content = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
        (folder / f"{Path(docname).name}.ipynb").write_text(content, encoding="utf-8", newline="\n")


def setup(app):
    for name in ("page-notebook", "page-colab", "page-binder"):
        app.add_role(name, PageLink())
    app.add_config_value("course_book_repository", ":".join(repository() or ()), "env")
    app.connect("config-inited", take_repository, priority=100)
    app.connect("source-read", add_links)
    app.connect("build-finished", write_all)

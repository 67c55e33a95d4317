"""What a page lacks when it is opened from the file system, where it may fetch nothing.

There the search shows no excerpts. And a link to a notebook would show the notebook's text, since a browser heeds
`download` on a server only. So each notebook lies in a script as well, which a page may load there, and
`_static/file_system.js` saves it out of that.
"""

import json
import re
from pathlib import Path

from .notebooks import FOLDER

NOTEBOOK_LINK = re.compile(rf'<a (?=[^>]*href="\.\./_downloads/{FOLDER}/)')


def mark_downloads(app, pagename, templatename, context, doctree):
    if context.get("body"):
        context["body"] = NOTEBOOK_LINK.sub("<a download ", context["body"])


def write_scripts(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / FOLDER
    folder.mkdir(exist_ok=True)
    for notebook in sorted((Path(app.outdir) / "_downloads" / FOLDER).glob("*.ipynb")):
        parts = [json.dumps(words) for words in (notebook.name, notebook.read_text(encoding="utf-8"))]
        (folder / f"{notebook.name}.js").write_text(f"saveNotebook({', '.join(parts)});\n", encoding="utf-8")


def setup(app):
    app.add_js_file("file_system.js")  # before the search's own script reads what it sets
    app.connect("html-page-context", mark_downloads)
    app.connect("build-finished", write_scripts, priority=600)  # when the notebooks are there

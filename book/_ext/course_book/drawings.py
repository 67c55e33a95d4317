"""Puts a figure of book/figures/ into a page, for light and for dark.

    ```{drawing} four_linears
    :interactive:
    The caption.
    ```

`figures.four_linears.draw(labels, theme)` makes the picture; its labels and its alt text stand in
`figures/labels.py`. With `interactive`, `_static/figures/four_linears.js` takes the place of the
picture where scripts run; where they do not, the picture stays.
"""

import html
import importlib
import json

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from . import BOOK

DRAWN = BOOK / "figures" / "drawn"


def script_of(name):
    return importlib.import_module(f"figures.{name}")


def labels_of(name, language):
    """The words of a figure. Numbers in its alt text come from the script's FACTS."""
    from figures.labels import labels_for

    labels = dict(labels_for(language)[name])
    labels["alt"] = labels["alt"].format(**getattr(script_of(name), "FACTS", {}))
    return labels


class Scripts(nodes.Element, nodes.General):
    """Marks a page that needs a figure's script."""


class Drawing(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec = {"interactive": directives.flag}  # noqa: RUF012 (docutils wants a dict here)

    def run(self):
        name = self.arguments[0]
        labels = labels_of(name, self.config.language)
        self.env.note_dependency(str(BOOK / "figures" / f"{name}.py"))
        self.env.note_dependency(str(BOOK / "figures" / "labels.py"))
        figure = nodes.figure(classes=["drawing"])
        for theme in ("light", "dark"):
            figure += nodes.image(
                uri=f"/book/figures/drawn/{name}.{theme}.svg",
                alt=labels["alt"],
                candidates={},
                classes=[f"only-{theme}", "no-scaled-link"],
            )
        result = [figure]
        if "interactive" in self.options:
            figure["classes"].append("still")
            result.append(interactive(name, labels))
            result.append(Scripts(figure=name))
        caption = nodes.container(classes=["drawing-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        result.append(caption)
        box = nodes.container(classes=["drawing-box"], ids=[f"figure-{name.replace('_', '-')}"])
        box += result
        return [box]


def interactive(name, labels):
    data = html.escape(json.dumps(labels, ensure_ascii=False), quote=True)
    return nodes.raw(
        "",
        f'<div class="interactive" data-figure="{name}" data-labels="{data}" hidden></div>',
        format="html",
    )


def draw_all(app):
    """Draw every figure into figures/drawn/, touching only what changed."""
    from figures.drawing import THEMES
    from figures.labels import labels_for

    DRAWN.mkdir(exist_ok=True)
    for name in labels_for(app.config.language):
        script, labels = script_of(name), labels_of(name, app.config.language)
        for theme in THEMES:
            target = DRAWN / f"{name}.{theme}.svg"
            picture = script.draw(labels, THEMES[theme])
            if not target.is_file() or target.read_text(encoding="utf-8") != picture:
                target.write_text(picture, encoding="utf-8")


def add_scripts(app, pagename, templatename, context, doctree):
    wanted = {node["figure"] for node in doctree.findall(Scripts)} if doctree else set()
    if wanted:
        app.add_js_file("figures/interactive.js", loading_method="defer")
        for name in sorted(wanted):
            app.add_js_file(f"figures/{name}.js", loading_method="defer")


def nothing(self, node):
    raise nodes.SkipNode


def setup(app):
    app.add_node(Scripts, html=(nothing, None), latex=(nothing, None), text=(nothing, None))
    app.add_directive("drawing", Drawing)
    app.connect("builder-inited", draw_all)
    app.connect("html-page-context", add_scripts)

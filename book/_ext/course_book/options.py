"""A command's option is kept whole: a browser would break `--resume` after its dashes."""

import re

OPTION = re.compile(r'<span class="pre">(?=-)')


def mark_options(app, pagename, templatename, context, doctree):
    if context.get("body"):
        context["body"] = OPTION.sub('<span class="pre option">', context["body"])


def setup(app):
    app.connect("html-page-context", mark_options)

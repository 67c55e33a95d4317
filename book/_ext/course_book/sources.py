"""Where a reader's question was asked: {asked}`owner/name#12, owner/name#13`, each linked to its thread on GitHub."""

import re

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxRole

THREAD = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")


class Asked(SphinxRole):
    def run(self):
        line = nodes.inline(classes=["asked"])
        for thread in self.text.split(", "):
            match = THREAD.fullmatch(thread)
            if not match:
                raise ExtensionError(f"{thread!r} is not of the form owner/name#number.")
            line += nodes.Text(", " if line.children else "")
            address = "https://github.com/{}/issues/{}".format(*match.groups())
            line += nodes.reference(thread, thread, refuri=address, internal=False)
        return [line], []


def setup(app):
    app.add_role("asked", Asked())

"""The learners' zip: offered for download if it has been made, else the words how to make it.

`autograder release` writes dist/multi_head_attention.zip. It is not committed, so a build in a
fresh clone has none. In a page:

    ```{with-bundle}
    {bundle-download}`Download the exercises`
    ```
    ```{without-bundle}
    Run `autograder release`, then build the book again.
    ```

Both texts are ordinary Markdown, so both can be translated.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

BUNDLE = "dist/multi_head_attention.zip"


def bundle_exists(env):
    env.note_dependency(BUNDLE)  # read the page again when the zip appears or changes
    return (Path(env.srcdir) / BUNDLE).is_file()


class Download(SphinxRole):
    def run(self):
        if not bundle_exists(self.env):  # only translators' builds come here without it
            return [nodes.inline(self.text, self.text)], []
        node = addnodes.download_reference(
            self.rawtext, "", refdoc=self.env.docname, reftarget="/" + BUNDLE, refexplicit=True
        )
        node += nodes.inline(self.text, self.text, classes=["xref", "download"])
        return [node], []


class WithBundle(SphinxDirective):
    has_content = True
    wanted = True

    def run(self):
        for_translators = self.env.app.builder.name == "gettext"
        if not for_translators and bundle_exists(self.env) != self.wanted:
            return []
        box = nodes.container(classes=["bundle"])
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class WithoutBundle(WithBundle):
    wanted = False


def setup(app):
    app.add_role("bundle-download", Download())
    app.add_directive("with-bundle", WithBundle)
    app.add_directive("without-bundle", WithoutBundle)

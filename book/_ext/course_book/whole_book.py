"""The whole book as one zip, to take along: {whole-book}`Download the book`."""

import zipfile
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxRole

NAME = "multi-head-attention-book.zip"
WHEN = (2026, 1, 1, 0, 0, 0)  # fixed, so that the same book gives the same zip


class WholeBook(SphinxRole):
    def run(self):
        up = "../" * self.env.docname.count("/")
        return [nodes.reference(self.text, self.text, refuri=f"{up}_downloads/{NAME}", internal=False)], []


def write_zip(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    site, target = Path(app.outdir), Path(app.outdir) / "_downloads" / NAME
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(site.rglob("*")):
            if path.is_file() and path != target and path.suffix not in (".map", ".inv") and path.name != ".buildinfo":
                entry = zipfile.ZipInfo(f"book/{path.relative_to(site).as_posix()}", WHEN)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())


def setup(app):
    app.add_role("whole-book", WholeBook())
    app.connect("build-finished", write_zip, priority=900)

"""The book's own Sphinx extension: one module for each thing it adds."""

import sys
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2]
if str(BOOK) not in sys.path:  # so that `figures` imports here as it does in the pages
    sys.path.insert(0, str(BOOK))

from . import (  # noqa: E402
    alt_text,
    bundle,
    drawings,
    file_system,
    fresh_cache,
    lighter_pages,
    notebooks,
    options,
    solutions_edition,
    sources,
    tables,
    whole_book,
)


def setup(app):
    for part in (
        fresh_cache,
        drawings,
        bundle,
        alt_text,
        lighter_pages,
        solutions_edition,
        notebooks,
        file_system,
        options,
        sources,
        tables,
        whole_book,
    ):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

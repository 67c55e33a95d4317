"""Forgets executed pages when something they import has changed.

The execution cache compares a page's own code only. Without this, a change to `_support/` or
`figures/`, or another torch, would leave old outputs in the book.
"""

import hashlib
import shutil
from importlib.metadata import version
from pathlib import Path

from . import BOOK


def fingerprint():
    parts = [version("torch"), version("myst-nb")]
    for folder in ("_support", "figures"):
        for script in sorted((BOOK / folder).glob("*.py")):
            # labels.py holds words only, and the pages that show them know it; own_module.py is for readers' notebooks
            if script.name not in ("labels.py", "own_module.py"):
                parts.append(script.name + script.read_text(encoding="utf-8"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def forget_stale(app, config):
    cache = Path(config.nb_execution_cache_path or BOOK.parent / ".jupyter_cache")
    stamp, now = cache / "course-book.sha256", fingerprint()
    if cache.is_dir() and (not stamp.is_file() or stamp.read_text() != now):
        shutil.rmtree(cache)
    cache.mkdir(parents=True, exist_ok=True)
    stamp.write_text(now)
    config.course_book_fingerprint = now  # another fingerprint: Sphinx reads every page again
    static = [path.read_bytes() for path in sorted((BOOK / "_static").glob("**/*.[cj]s*"))]
    config.course_book_static = hashlib.sha256(b"\0".join(static)).hexdigest()  # another: writes them again


def setup(app):
    app.add_config_value("course_book_fingerprint", "", "env")
    app.add_config_value("course_book_static", "", "html")
    app.connect("config-inited", forget_stale, priority=100)

"""What the tests of the book share: its sources, a build of it, and a browser."""

import fcntl
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET_CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]


def pages_in_order():
    """The names of the book's pages, as in _toc.yml."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"]] + [c["file"] for part in toc["parts"] for c in part["chapters"]]
    return [Path(f).name for f in files]


def source(page):
    return (BOOK / f"{page}.md").read_text(encoding="utf-8")


def code_cells(page):
    """[(tags, code)] of a page."""
    cells = []
    for block in re.findall(r"```\{code-cell\}[^\n]*\n(.*?)```", source(page), re.S):
        tags = re.match(r":tags: \[(.*?)\]\n", block)
        cells.append((tags.group(1).split(", ") if tags else [], block))
    return cells


def prose(page):
    """A page without its code: what a reader reads as text."""
    text = re.sub(r"^---\n.*?\n---\n", "", source(page), flags=re.S)
    text = re.sub(r"```(\{code-cell\}|python|bash).*?```", "", text, flags=re.S)
    return re.sub(r"`[^`\n]*`|\$[^$\n]*\$", "", text)


def build(folder, *options):
    """Build the book that lies in `folder`; the finished process, output included."""
    tool = Path(sys.executable).with_name("jupyter-book")
    return subprocess.run([tool, "build", ".", *options], cwd=folder, capture_output=True, text=True, timeout=600)


def copy_of_the_book(folder, pages=None):
    """What a fresh clone holds of the book; with `pages`, a book of those alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(BOOK, folder / "book", ignore=shutil.ignore_patterns("drawn", "__pycache__"))
    if (ROOT / ".jupyter_cache").is_dir():  # pages that ran already need not run again
        shutil.copytree(ROOT / ".jupyter_cache", folder / ".jupyter_cache")
    if pages:
        toc = {"format": "jb-book", "root": f"book/{pages[0]}"}
        if pages[1:]:
            toc["chapters"] = [{"file": f"book/{p}"} for p in pages[1:]]
        (folder / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    return folder


STRICT = ("-n", "-W", "--keep-going")
_built = {}


def built_book(tmp_path_factory):
    """The whole book, built as strictly as `make book` does, as a fresh clone has it: once for all processes."""
    if not _built:
        shared = tmp_path_factory.getbasetemp()
        if os.environ.get("PYTEST_XDIST_WORKER"):
            shared = shared.parent
        folder = shared / "book" / "clone"
        with (shared / "book.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (shared / "book.done").exists():
                done = build(copy_of_the_book(folder), *STRICT)
                assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
                (shared / "book.done").touch()
        _built["html"] = folder / "_build" / "html"
    return _built["html"]


@contextmanager
def served(folder):
    """Serve a folder on this machine; gives the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextmanager
def chromium():
    if CHROMIUM is None:
        words = "no Chromium on this machine: the browser tests of the book did not run"
        if os.environ.get("AUTOGRADER_REQUIRE_BROWSER"):
            pytest.fail(words)
        pytest.skip(words)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET_CHROMIUM)
        try:
            yield browser
        finally:
            browser.close()

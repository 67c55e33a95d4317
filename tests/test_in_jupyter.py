"""The learner's notebook in a real JupyterLab in a real browser."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_support import PATIENCE, jupyter

from autograder.course import Course

pytestmark = [pytest.mark.browser, pytest.mark.long]

NAME = "multi_head_attention"
WRONG_SPLIT = "def split_heads(x, h):\n    B, T, d_model = x.shape\n    return x.view(B, h, T, d_model // h)\n"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1280, "height": 1200})
    yield opened
    opened.close()


@pytest.fixture
def lab(course: Course, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A copy of the released folder, and the address of a JupyterLab that serves it."""
    folder = shutil.copytree(course.released / NAME, tmp_path / "unpacked")
    with jupyter("lab", folder, tmp_path / "home") as address:
        yield folder, f"{address}/lab/tree/{NAME}.ipynb?reset"


def run_all(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=1000 * PATIENCE)
    page.wait_for_selector("text=Python 3 (ipykernel) | Idle", timeout=1000 * PATIENCE)
    page.click("text=Run >> nth=0")
    page.click("text=Run All Cells")
    page.wait_for_selector("text=Python 3 (ipykernel) | Busy", timeout=1000 * PATIENCE)
    page.wait_for_selector("text=Python 3 (ipykernel) | Idle", timeout=1000 * PATIENCE)


def panel(page: Any, call: str) -> str:
    """Text of the panel below the cell that makes this call."""
    cell = page.locator(".jp-CodeCell", has=page.locator(".jp-InputArea", has_text=call)).last
    cell.locator(".ag", has_text="points").first.wait_for(state="attached", timeout=1000 * PATIENCE)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:  # JupyterLab empties cells that it scrolls past
        cell.scroll_into_view_if_needed()
        shown = str(cell.locator(".ag", has_text="points").first.inner_text())
        if shown:
            return shown
        time.sleep(0.2)
    raise AssertionError(f"the panel of {call} shows nothing")


def test_solved_it_shows_full_marks_and_a_wrong_transpose_is_told_in_words(
    lab: tuple[Path, str], page: Any, notebook_with: Any
) -> None:
    folder, address = lab
    (folder / f"{NAME}.ipynb").write_bytes(notebook_with())
    run_all(page, address)
    assert "10 of 10 points" in panel(page, 'check("split_heads")')
    assert "100 of 100 points" in panel(page, "check()")
    (folder / f"{NAME}.ipynb").write_bytes(notebook_with({"split_heads": WRONG_SPLIT}))
    run_all(page, address)
    text = panel(page, 'check("split_heads")')
    assert "Likely cause" in text and "view alone" in text and "1 of 10 points" in text

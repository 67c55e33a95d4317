"""What tests share: the course, and one grader per process, which observes wrong answers for all processes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from book_support import chromium

from autograder import solved
from autograder.course import Course, Source
from autograder.grading.submission import Grader

ROOT = Path(__file__).parents[1]
SEED = 11


# Tests are spread over processes by file. The dearest files come first, so that none is begun when all others are done.
DEAREST = (
    "test_nbgrader.py", "test_book_use.py", "test_book.py", "test_courses_hold.py", "test_attacks.py",
    "test_culprits.py", "test_class_run.py", "test_sandbox.py", "test_pages_in_browser.py", "test_tracing.py",
    "test_sandbox_limits.py", "test_grading.py", "test_release.py", "test_messages.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: DEAREST.index(item.path.name) if item.path.name in DEAREST else len(DEAREST))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium per process: Playwright runs once in each. Skips in words where there is none."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def course() -> Course:
    return Course(ROOT)


@pytest.fixture(scope="session")
def source(course: Course) -> Source:
    return course.source("multi_head_attention")


@pytest.fixture(scope="session")
def grader(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    shared = None
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = tmp_path_factory.getbasetemp().parent / "observed"
        shared.mkdir(exist_ok=True)
    with Grader.open(source, seed=SEED, shared=shared) as opened:
        yield opened


@pytest.fixture(scope="session")
def notebook_with(source: Source) -> Callable[..., bytes]:
    """Bytes of the solved notebook with some cells' source replaced, by grade_id, and cells appended."""
    text = json.dumps(solved.solved_notebook(source))

    def make(
        answers: dict[str, str] | None = None, *, extra: tuple[str, ...] = (), first: tuple[str, ...] = ()
    ) -> bytes:
        notebook: dict[str, Any] = json.loads(text)
        for cell in notebook["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            if answers and name in answers:
                cell["source"] = answers[name]
        blank = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        notebook["cells"] = [
            *({**blank, "id": f"first-{i}", "source": code} for i, code in enumerate(first)),
            *notebook["cells"],
            *({**blank, "id": f"extra-{i}", "source": code} for i, code in enumerate(extra)),
        ]
        return json.dumps(notebook).encode()

    return make

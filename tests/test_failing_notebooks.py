"""Twenty answers as people write them when they are tired: what each is told names the mistake. See MESSAGE_LOG.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from failing_notebooks import FAILING, Failing, notebook

from autograder import solved
from autograder.course import Course
from autograder.grading.submission import Grader

LOG = Path(__file__).with_name("MESSAGE_LOG.md")


@pytest.mark.parametrize("failing", FAILING, ids=lambda one: one.name)
def test_what_a_failing_answer_is_told_names_the_mistake(grader: Grader, failing: Failing) -> None:
    cells = solved.with_answer(list(grader.reference), failing.exercise, failing.code)
    result = grader.judge_exercise_alone(cells, failing.exercise)
    assert result.score < result.max_score
    first = next(check for check in result.checks if check.status == "failed")
    said = " ".join([first.says, first.narrows, first.message, first.hint])
    for words in failing.words:
        assert words in said, said


def test_the_notebooks_hold_the_answer_and_what_it_needs(course: Course) -> None:
    for failing in FAILING:
        made = notebook(failing, course)
        names = [cell["metadata"]["nbgrader"]["grade_id"] for cell in made["cells"]]
        assert names[0] == "imports" and names[-1] == f"check-{failing.exercise}"
        assert any(cell["source"] == failing.code for cell in made["cells"])


def test_the_log_tells_of_every_one() -> None:
    text = LOG.read_text(encoding="utf-8")
    for failing in FAILING:
        assert f"`{failing.name}`" in text, failing.name
    assert len(FAILING) == 20

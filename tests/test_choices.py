"""The instructor's choices in `assignment.toml`: release, checks and grading follow them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from course_copies import copy_course

from autograder import collecting, solved
from autograder.choices import Choices, spread
from autograder.course import Course, CourseError, Source
from autograder.grading.submission import Grader
from autograder.results import ExerciseResult

NAME = "smoothing"
OFF_LIMITS = (
    "def moving_average(x, window):\n"
    "    return torch.nn.functional.avg_pool1d(x[None], window, stride=1)[0]\n"
)  # fmt: skip


def chosen(folder: Path, table: str) -> Source:
    """The second course with this table in its settings."""
    course = copy_course(folder)
    path = course.root / "solutions" / NAME / "assignment.toml"
    path.write_text(path.read_text(encoding="utf-8") + f"\n{table}\n", encoding="utf-8")
    return Course(folder).source(NAME)


def graded(source: Source, answers: dict[str, str] | None = None) -> dict[str, ExerciseResult]:
    notebook = solved.solved_notebook(source)
    for cell in notebook.cells:
        cell.source = (answers or {}).get(cell.metadata.get("nbgrader", {}).get("grade_id", ""), cell.source)
    with Grader.open(source, seed=3) as grader:
        result = grader.grade_bytes("s", json.dumps(notebook).encode())
    assert result.status == "graded"
    assert result.score == round(sum(exercise.score for exercise in result.exercises), 2)
    return {exercise.name: exercise for exercise in result.exercises}


def test_an_exercise_left_out_is_in_neither_the_notebook_nor_the_grade(tmp_path: Path) -> None:
    source = chosen(tmp_path, '[grading]\nleave_out = ["Standardize"]')
    notebook = solved.solved_notebook(source)
    assert "Exercises: 1. Points: 6. Seconds for a cell: 2." in notebook.cells[0].source
    names = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells}
    assert "moving_average" in names and not {"Standardize", "check-Standardize"} & names
    assert {rule.exercise for rule in collecting.collect(source.assignment)} == {"moving_average"}
    assert source.assignment.max_score == 6 and all(one.exercise == "moving_average" for one in source.wrong)
    assert {name: one.score for name, one in graded(source).items()} == {"moving_average": 6}


def test_the_notebook_tells_how_long_a_cell_may_compute(tmp_path: Path) -> None:
    for place, (limits, seconds) in enumerate((("step_seconds = 0.5", "0.5"), ("cpu_seconds = 1", "1"))):
        source = chosen(tmp_path / str(place), f"[grading.limits]\n{limits}")
        assert f"Seconds for a cell: {seconds}." in solved.solved_notebook(source).cells[0].source


def test_points_are_spread_over_the_checks_that_count(tmp_path: Path) -> None:
    source = chosen(
        tmp_path,
        '[grading]\nnot_counted = ["moving_average/the_input_stays_as_it_was"]\n[grading.points]\nmoving_average = 20',
    )
    cells = {
        cell.metadata["nbgrader"]["grade_id"]: cell
        for cell in solved.solved_notebook(source).cells
        if "nbgrader" in cell.metadata
    }
    assert cells["check-moving_average"].metadata["nbgrader"]["points"] == 20
    found = graded(source)["moving_average"]
    points = {check.name: check.points for check in found.checks}
    assert (found.score, found.max_score) == (20, 20)
    assert points["the_input_stays_as_it_was"] == 0 and points["each_number_is_the_mean_of_its_run"] == 12
    assert sum(points.values()) == 20


def test_a_call_that_is_off_limits_costs_the_exercise_where_the_instructor_says_so(tmp_path: Path) -> None:
    answers = {"moving_average": OFF_LIMITS}
    usual = graded(chosen(tmp_path / "a", ""), answers)["moving_average"]
    strict = graded(chosen(tmp_path / "b", "[grading]\noff_limits_cost = true"), answers)
    assert usual.score == 6
    assert strict["moving_average"].score == 0 and "avg_pool1d" in strict["moving_average"].checks[0].message
    assert {check.status for check in strict["moving_average"].checks} == {"failed", "blocked"}
    assert strict["Standardize"].score == 4


def test_limits_reach_the_sandbox(tmp_path: Path) -> None:
    source = chosen(tmp_path, "[grading.limits]\ncpu_seconds = 3\nmemory_mb = 2048")
    with Grader.open(source, seed=3) as grader:
        limits = grader._sandbox.limits
    assert (limits.cpu_seconds, limits.memory_bytes) == (3, 2048 << 20)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('[grading]\nleave_out = ["nothing"]', r"/assignment.toml: \[grading\] names nothing, which is no exercise"),
        (
            '[grading]\nleave_out = ["moving_average"]',
            "/assignment.toml: .* needs moving_average, which .grading. leaves out",
        ),
        ("[grading]\nleaveout = []", r"\[grading\]: leaveout is no setting; did you mean leave_out"),
        ("[grading.points]\nmoving_average = 0", r"\[grading.points\]: moving_average must be a number above 0"),
        ("[grading.limits]\nspeed = 1", r"\[grading.limits\]: speed is no setting; the settings here are cpu_seconds"),
    ],
)
def test_a_choice_that_cannot_be_followed_is_said(tmp_path: Path, table: str, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        chosen(tmp_path, table)


def test_a_check_that_is_not_there_cannot_be_set_aside(tmp_path: Path) -> None:
    source = chosen(tmp_path, '[grading]\nnot_counted = ["moving_average/nonsense"]')
    with pytest.raises(CourseError, match="nonsense"):
        collecting.collect(source.assignment)


@pytest.mark.parametrize(
    ("points", "weights"),
    [(10, {"a": 1, "b": 1, "c": 1}), (7.5, {"a": 0, "b": 2, "c": 1}), (0.01, {"a": 1, "b": 1}), (3, {"a": 0.5})],
)
def test_spread_points_sum_up_exactly(points: float, weights: dict[str, float]) -> None:
    found = spread(points, weights)
    assert round(sum(found.values()), 9) == points
    assert all(found[name] == 0 for name, weight in weights.items() if not weight)


def test_without_a_table_nothing_is_chosen() -> None:
    assert Choices.read({}) == Choices()

"""A trace shows the learner's own operations, names their axes, and marks a line only with evidence."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder import cli, routes, solved
from autograder.course import Assignment, Course, Source, Trace
from autograder.notebook_check import Checked, CheckError, try_exercises
from autograder.tracing import Follower, line_of

TRACE = Trace(("any",), {"x": "B T d_model", "h": "h"}, (), {"d_model": ("h", "d_k")})
SIZES = {"B": 2, "T": 5, "d_model": 12, "h": 3, "d_k": 4}


@pytest.fixture(scope="module")
def released(course: Course) -> Assignment:
    return Assignment.read(course.released / "multi_head_attention")


def trace_of(source: Source, released: Assignment, exercise: str, code: str) -> Checked:
    """The trace of an answer that takes its place in the solved notebook, in this process."""
    names: dict[str, Any] = {}
    exec(released.namespace, names)
    for i, cell in enumerate(solved.with_answer(list(solved.read_solved(source).cells), exercise, code)):
        if cell.exercises:
            filename = f"<cell {i}>"
            linecache.cache[filename] = (len(cell.source), None, cell.source.splitlines(keepends=True), filename)
            exec(compile(cell.source, filename, "exec"), names)
    checked = try_exercises(released, names, exercise, trace=True)
    assert checked.trace is not None
    return checked


def bank(source: Source, path: str) -> tuple[str, str]:
    variant = next(one for one in (*source.wrong, *source.right) if one.path == path)
    return variant.exercise, variant.code


# -- following --------------------------------------------------------------------------------------------------------


def follow(code: str, x: torch.Tensor) -> list[dict[str, Any]]:
    names: dict[str, Any] = {"torch": torch}
    exec(compile(code, "<follow>", "exec"), names)
    follower = Follower([x], [], lambda frame: line_of(frame, names, ()))
    with follower:
        names["f"](x)
    return follower.steps


def test_operations_on_the_way_from_the_inputs_are_written_down_and_no_others() -> None:
    steps = follow(
        "def f(x):\n    noise = torch.ones(3)\n    y = x * 2\n    return [t.sum() for t in y]\n", torch.ones(2, 3)
    )
    assert [(step["operation"], step["line"]) for step in steps[:1]] == [("mul", 3)]
    assert {step["function"] for step in steps} == {"f"} and steps[-1]["operation"] == "sum"


def test_what_is_written_into_an_empty_tensor_is_followed_too() -> None:
    steps = follow("def f(x):\n    y = torch.empty(2, 3)\n    y[0] = x[1]\n    return y + 1\n", torch.ones(2, 3))
    assert [step["operation"] for step in steps] == ["[...]", "[...] =", "add"]
    assert steps[2]["made_from"] == [1]


def test_a_loop_without_measure_is_cut() -> None:
    assert len(follow("def f(x):\n    for _ in range(1000):\n        x = x + 1\n", torch.ones(2))) == 200


# -- axes and right ways ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        ((2, 3, 5, 4), ["B", "h", "T", "d_k"]),
        ((2, 5, 12), ["B", "T", "d_model"]),
        ((6, 5, 4), ["B·h", "T", "d_k"]),
        ((2, 5, 5), ["B", "T", "T"]),
        ((1, 17), ["1", "17"]),
    ],
)
def test_axes_are_named_by_their_sizes(shape: tuple[int, ...], names: list[str]) -> None:
    x = torch.zeros(2, 5, 12)
    assert routes.axis_sizes(TRACE, {"x": x, "h": 3}) == SIZES
    assert routes.name_axes(shape, SIZES) == names


def test_a_right_way_may_order_and_join_its_axes_as_it_likes_but_not_mix_them() -> None:
    x = torch.randn(2, 5, 12)
    ways = routes.Ways([x], TRACE, SIZES)
    heads = x.view(2, 5, 3, 4)
    for right in (
        heads,
        heads.transpose(1, 2),
        heads.transpose(1, 2).reshape(6, 5, 4),
        heads.permute(2, 0, 3, 1),
        heads[:, :, 1],
    ):
        assert ways.met(right)
    for wrong in (x.view(2, 3, 5, 4), x.view(2, 5, 4, 3), x * 1.01, x.flatten()[torch.randperm(120)].view(2, 5, 12)):
        assert not ways.met(wrong)


@pytest.mark.parametrize(("one", "other"), [(-1e9, -float("inf")), (torch.finfo(torch.float32).min, -1e9)])
def test_a_forbidden_score_may_be_any_huge_number(one: float, other: float) -> None:
    x, y = torch.randn(2, 5, 12), None
    y = x.clone()
    x[0, 0, 0], y[0, 0, 0] = one, other
    assert routes.Ways([x], TRACE, SIZES).met(y)


def step(value: torch.Tensor, *made_from: int) -> dict[str, Any]:
    return {"values": [value], "made_from": list(made_from)}


def test_a_detour_that_comes_back_is_no_fault_and_the_first_line_that_does_not_is_marked() -> None:
    a, b, odd, wrong = (torch.randn(2, 5, 12) for _ in range(4))
    ways = routes.Ways([a, b], TRACE, SIZES)
    assert routes.first_to_leave([step(odd, -1), step(a, 0), step(wrong, 1), step(odd, 2)], ways) == 2
    assert routes.first_to_leave([step(wrong, -1), step(a, -1), step(b, 0, 1)], ways) is None
    assert routes.first_to_leave([step(wrong, -1), step(a)], ways) is None, "what came from NumPy may be made of it"
    assert routes.first_to_leave([step(wrong, -2), step(odd, -2)], ways) is None, "a mask is held against nothing"
    assert routes.first_to_leave([step(torch.ones(2, 5, 12), -1)], ways) is None


# -- the learner's panel ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("attention/no_scale", "softmax"),
        ("attention/softmax_over_heads", "softmax"),
        ("attention/mask_inverted", "masked_fill"),
        ("split_heads/view_alone", "reshape"),
        ("merge_heads/reversed", "cat"),
        ("mix_heads/averaged", "mean"),
        ("MultiHeadedAttention/scaled_by_d_model", "div"),
        ("MultiHeadedAttention/key_through_w_q", "linear"),
        ("MultiHeadedAttention/merge_without_transpose", "view"),
    ],
)
def test_the_line_where_a_wrong_answer_leaves_is_marked(
    source: Source, released: Assignment, path: str, operation: str
) -> None:
    checked = trace_of(source, released, *bank(source, path))
    assert checked.trace is not None and checked.trace.leaves is not None
    assert checked.trace.leaves.operation == operation
    assert "leave every route we know" in checked._repr_html_() and "leave every route" in checked.text()


@pytest.mark.parametrize("exercise", ["attention", "split_heads", "merge_heads", "mix_heads"])
def test_no_unusual_right_answer_is_ever_marked(source: Source, released: Assignment, exercise: str) -> None:
    for variant in source.right:
        if variant.exercise == exercise:
            checked = trace_of(source, released, exercise, variant.code)
            assert checked.trace is not None and checked.trace.leaves is None, variant.path
            assert "no line is marked" in checked.text()


def test_an_exception_ends_the_trace_with_its_line(source: Source, released: Assignment) -> None:
    checked = trace_of(source, released, *bank(source, "merge_heads/view_after_transpose"))
    assert checked.trace is not None and checked.trace.leaves is None
    assert [one.operation for one in checked.trace.steps] == ["transpose"]
    assert "Your code stopped here" in checked.text()


def test_the_learners_code_is_shown_as_text(source: Source, released: Assignment) -> None:
    code = "def merge_heads(x):\n    return x.mean(1)  # <script>alert(1)</script>\n"
    page = trace_of(source, released, "merge_heads", code)._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_the_shapes_are_shown_with_the_names_of_their_axes(source: Source, released: Assignment) -> None:
    text = trace_of(source, released, *bank(source, "MultiHeadedAttention/loop_over_heads")).text()
    assert "query  (2, 5, 12) = (B, Tq, d_model)" in text and "(2, 5, 7) = (B, Tq, Tk)" in text


@pytest.mark.parametrize(
    "path", ["MultiHeadedAttention/no_w_o", "MultiHeadedAttention/w_o_without_bias", "mix_heads/no_bias"]
)
def test_a_way_that_ends_too_early_is_told_as_such(source: Source, released: Assignment, path: str) -> None:
    said = " ".join(trace_of(source, released, *bank(source, path)).text().split())
    assert "a step after them is missing, or differs" in said and "in which order its axes stand" not in said


@pytest.mark.parametrize("path", ["merge_heads/interleaved", "attention/pair_swapped"])
def test_right_numbers_in_the_wrong_order_are_no_missing_step(source: Source, released: Assignment, path: str) -> None:
    said = " ".join(trace_of(source, released, *bank(source, path)).text().split())
    assert "a step after them is missing" not in said and "in which order its axes stand" in said


def test_the_book_names_the_exercises_that_can_be_traced(course: Course, released: Assignment) -> None:
    page = (course.root / "book" / "how-to-use.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if "can be traced" in line]
    assert re.findall(r"`(\w+)`", line) == list(released.traces)


def test_all_exercises_at_once_are_answered_with_those_that_can_be_traced(released: Assignment) -> None:
    with pytest.raises(CheckError, match="Name one of these, which can be traced: attention, split_heads"):
        try_exercises(released, {}, trace=True)


def test_an_exercise_without_a_trace_shows_its_panel_and_those_that_have_one(released: Assignment) -> None:
    names: dict[str, Any] = {}
    exec(released.namespace, names)
    exec("def clones(module, N):\n    return nn.ModuleList([module for _ in range(N)])\n", names)
    checked = try_exercises(released, names, "clones", trace=True)
    words = "clones cannot be traced. These exercises can: attention, split_heads"
    assert "rules pass" in checked.text() and words in " ".join(checked.text().split())
    assert words in checked._repr_html_()


def test_recorded_ways_are_numbers_alone(course: Course) -> None:
    from autograder import wire

    content: Any = wire.decode(
        (Path(course.released) / "multi_head_attention/recordings/attention.recording").read_bytes()
    )
    ways = content["ways"]
    assert ways and all(isinstance(one, torch.Tensor) for numbers in ways.values() for one in numbers)


def test_a_failing_exercise_offers_its_trace_and_a_passing_one_does_not(source: Source, released: Assignment) -> None:
    names: dict[str, Any] = {}
    exec(released.namespace, names)
    offer = "trace=True"
    exec("def merge_heads(x):\n    return x\n", names)
    assert offer in try_exercises(released, names, "merge_heads").text()
    exec("def merge_heads(x):\n    return x.transpose(1, 2).flatten(2)\n", names)
    assert offer not in try_exercises(released, names, "merge_heads").text()


def test_the_command_line_traces_too(
    course: Course, notebook_with: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.ipynb"
    path.write_bytes(
        notebook_with({"split_heads": "def split_heads(x, h):\n    return x.view(2, h, -1, x.size(-1) // h)\n"})
    )
    assert cli.main(["check", str(path), "split_heads", "--trace"]) == 1
    shown = capsys.readouterr().out
    assert "split_heads, line 2: return x.view(" in shown and "leave every route" in shown
    assert cli.main(["check", str(path), "--trace"]) == 2
    assert "Name one of these" in capsys.readouterr().err


def test_the_command_line_offers_the_trace_as_a_command(
    course: Course, notebook_with: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my answers.ipynb"
    path.write_bytes(notebook_with({"merge_heads": "def merge_heads(x):\n    return x\n"}))
    assert cli.main(["check", str(path), "merge_heads"]) == 1
    shown = capsys.readouterr().out
    assert f'  autograder check "{path}" merge_heads --trace\n' in shown and "trace=True" not in shown

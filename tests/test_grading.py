"""A submission across the trust boundary: what a fault costs, and what it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from autograder import release
from autograder.checking import Draw, Seen
from autograder.course import Source
from autograder.grading.submission import Grader
from autograder.observations import Reply, Request
from autograder.results import ExerciseResult, SubmissionResult

Notebook = Callable[..., bytes]

BROKEN_ATTENTION = "def attention(query, key, value, mask=None, dropout=None):\n    raise ValueError('not today')\n"
WRONG_SPLIT = "def split_heads(x, h):\n    B, T, d_model = x.shape\n    return x.view(B, h, T, d_model // h)\n"


def graded(grader: Grader, data: bytes) -> SubmissionResult:
    result = grader.grade_bytes("s", data)
    assert result.status == "graded", result.reason
    assert result.isolation == "namespaces"
    return result


def lost(result: SubmissionResult) -> dict[str, float]:
    return {one.name: one.score for one in result.exercises if one.score < one.max_score}


def named(result: SubmissionResult, name: str) -> ExerciseResult:
    return next(one for one in result.exercises if one.name == name)


def test_the_solved_notebook_gets_full_marks_with_its_own_pieces(grader: Grader, notebook_with: Notebook) -> None:
    result = graded(grader, notebook_with())
    assert (result.score, result.max_score, lost(result)) == (100, 100, {})
    assert all(one.judged_with == "own" and one.attempted for one in result.exercises)
    assert result.seed == 11 and len(result.sha256) == 64


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os; os._exit(3)", "exit code 3"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("while True:\n    try:\n        pass\n    except BaseException:\n        pass", "time was up"),
        ("open('solutions/multi_head_attention/multi_head_attention.py')", "FileNotFoundError"),
        ("raise SystemExit(0)", "SystemExit"),
    ],
)
def test_a_fault_in_an_answers_cell_costs_only_its_own_exercise(
    grader: Grader, notebook_with: Notebook, code: str, words: str
) -> None:
    result = graded(grader, notebook_with({"split_heads": code}))
    assert lost(result) == {"split_heads": 0}
    failed = [check for check in named(result, "split_heads").checks if check.status == "failed"]
    assert words in failed[0].message and failed[0].stage == "loads"


@pytest.mark.parametrize(
    "body", ["import os; os._exit(0)", "import signal, os; os.kill(os.getpid(), 11)", "raise SystemExit"]
)
def test_a_fault_while_an_answer_is_called_costs_only_its_own_exercise(
    grader: Grader, notebook_with: Notebook, body: str
) -> None:
    result = graded(grader, notebook_with({"merge_heads": f"def merge_heads(x):\n    {body}\n"}))
    assert lost(result) == {"merge_heads": 0}


def test_two_culprits_are_both_found_and_the_honest_answers_keep_their_marks(
    grader: Grader, notebook_with: Notebook
) -> None:
    exits = "import os\ndef {}(*a):\n    os._exit(1)\n"
    result = graded(
        grader, notebook_with({"split_heads": exits.format("split_heads"), "merge_heads": exits.format("merge_heads")})
    )
    assert lost(result) == {"split_heads": 0, "merge_heads": 0}


@pytest.mark.parametrize(
    "code", ["import os; os._exit(1)", "raise RuntimeError", "1/0", "def broken(:", "%matplotlib inline"]
)
def test_a_cell_of_no_exercise_costs_nothing(grader: Grader, notebook_with: Notebook, code: str) -> None:
    assert lost(graded(grader, notebook_with(extra=(code,)))) == {}
    assert lost(graded(grader, notebook_with(first=(code,)))) == {}


def test_a_check_that_writes_into_what_it_sees_or_drew_changes_nothing_for_others() -> None:
    request = Request("clones", "check", "probe", {}, 0)
    got, expected = Reply({"x": torch.ones(2), "names": ["a"]}), Reply({"x": torch.ones(2), "names": ["a"]})
    seen = Seen(request, got, expected)
    seen.tensor("x").zero_()
    seen.reference["x"].zero_()
    seen.reference["names"].append("b")
    seen.same("x")
    seen.same_plain("names")
    first = Draw(1, "check")
    lengths = [1, 2]
    assert first.choice([lengths]) == lengths
    again = Draw(1, "check", first.drawn)
    again.choice([lengths]).append(3)
    assert Draw(1, "check", first.drawn).choice([lengths]) == [1, 2]


def test_the_last_definition_counts(grader: Grader, notebook_with: Notebook) -> None:
    result = graded(grader, notebook_with(extra=(WRONG_SPLIT,)))
    assert list(lost(result)) == ["split_heads"]


def test_a_missing_import_cell_costs_nothing(grader: Grader, notebook_with: Notebook) -> None:
    assert lost(graded(grader, notebook_with({"imports": ""}))) == {}


def test_a_broken_piece_does_not_take_the_marks_of_what_needs_it(grader: Grader, notebook_with: Notebook) -> None:
    result = graded(grader, notebook_with({"attention": BROKEN_ATTENTION}))
    assert lost(result) == {"attention": 0}
    assert named(result, "MultiHeadedAttention").judged_with == "stand-ins"
    assert named(result, "split_heads").judged_with == "own"


@pytest.mark.parametrize(
    "solved",
    [
        {"MultiHeadedAttention", "load_torch_weights", "silence_head"},
        {"silence_head"},
        {"predict", "clones", "split_heads", "masks", "merge_heads", "mix_heads", "MultiHeadedAttention",
         "load_torch_weights", "silence_head"},
    ],
)  # fmt: skip
def test_stubs_cost_their_own_exercises_and_not_those_that_call_them(
    source: Source, grader: Grader, notebook_with: Notebook, solved: set[str]
) -> None:
    stubs = {cell.grade_id: cell.source for cell in release.stub_cells(source) if cell.grade_id}
    result = graded(
        grader, notebook_with({name: stubs[name] for name in source.assignment.by_name if name not in solved})
    )
    assert {one.name for one in result.exercises if one.score == one.max_score} == solved
    assert {one.name for one in result.exercises if one.attempted} == solved
    assert all(one.score == 0 for one in result.exercises if one.name not in solved)


def test_a_stand_in_does_not_mend_a_wrong_module(grader: Grader, notebook_with: Notebook) -> None:
    without_scale = next(one for one in grader.source.wrong if one.exercise == "MultiHeadedAttention")
    both = graded(grader, notebook_with({"attention": BROKEN_ATTENTION, "MultiHeadedAttention": without_scale.code}))
    alone = graded(grader, notebook_with({"MultiHeadedAttention": without_scale.code}))
    assert named(both, "MultiHeadedAttention").score <= named(alone, "MultiHeadedAttention").score + 1e-9
    assert named(both, "MultiHeadedAttention").score < 17


def test_a_wrong_answer_is_told_its_misconception(grader: Grader, notebook_with: Notebook) -> None:
    variant = next(one for one in grader.source.wrong if one.exercise == "split_heads")
    result = graded(grader, notebook_with({"split_heads": variant.code}))
    failed = [check for check in named(result, "split_heads").checks if check.status == "failed"]
    assert {check.misconception for check in failed} == {variant.misconception}
    assert failed[0].says and failed[0].hint and failed[0].chapter


@pytest.mark.parametrize("name", ["predict", "attention", "clones", "split_heads", "masks", "merge_heads", "mix_heads",
                                  "MultiHeadedAttention", "load_torch_weights", "silence_head"])  # fmt: skip
def test_zeros_and_the_input_handed_back_earn_nothing(grader: Grader, notebook_with: Notebook, name: str) -> None:
    functions = grader.assignment.by_name[name].functions
    for body in ("return args[0] if args else None", "return 0", "return torch.zeros(2, 3, 4)", "return None"):
        code = "".join(f"def {function}(*args, **kwargs):\n    {body}\n" for function in functions)
        result = graded(grader, notebook_with({name: code}))
        assert named(result, name).score == 0, (body, [c for c in named(result, name).checks if c.status == "passed"])


def test_the_same_seed_gives_the_same_result_and_another_seed_other_inputs(
    grader: Grader, notebook_with: Notebook
) -> None:
    data = notebook_with({"split_heads": WRONG_SPLIT})
    one, other = (replace(graded(grader, data), seconds=0.0) for _ in range(2))
    assert one == other


def test_calls_of_what_is_off_limits_are_flagged_and_cost_nothing(grader: Grader, notebook_with: Notebook) -> None:
    code = (
        "def attention(query, key, value, mask=None, dropout=None):\n"
        "    F.scaled_dot_product_attention(query, key, value)\n"
        "    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n"
        "    if mask is not None:\n        scores = scores.masked_fill(mask == 0, float('-inf'))\n"
        "    weights = scores.softmax(-1)\n"
        "    if dropout is not None:\n        weights = dropout(weights)\n"
        "    return weights @ value, weights\n"
    )
    result = graded(grader, notebook_with({"attention": code}))
    assert result.score == 100
    assert result.flags == ("attention calls F.scaled_dot_product_attention, which is off limits.",)


@pytest.mark.parametrize("data", [b"", b"[]", b"<html>", b'{"cells": [', b"[" * 10_000])
def test_what_is_no_notebook_ends_as_ungradable_with_a_reason(grader: Grader, data: bytes) -> None:
    result = grader.grade_bytes("s", data)
    assert (result.status, result.score, tuple(result.exercises)) == ("ungradable", None, ())
    assert result.reason and result.reason.endswith(".")

"""Observations are compared within the course's tolerance, and differences are told in words."""

from __future__ import annotations

import math

import pytest
import torch

from autograder import comparing
from autograder.observations import Line, Plain, Problem, Reply


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.00001]), True),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.001]), False),
        (torch.tensor([0.0, 1000.0]), torch.tensor([0.009, 1000.0]), True),  # atol grows with the largest
        (torch.tensor([0.0, 1.0]), torch.tensor([0.009, 1.0]), False),
        (torch.tensor([1.0]), torch.tensor([[1.0]]), False),
        (torch.tensor([1.0]), torch.tensor([1.0]).double(), False),
        (torch.tensor([True]), torch.tensor([True]), True),
        (torch.tensor([math.nan]), torch.tensor([math.nan]), True),
        (torch.tensor([math.inf]), torch.tensor([1.0]), False),
        (torch.tensor([1j]), torch.tensor([1j]), False),
        ({"a": [1, 2.0]}, {"a": [1, 2.0 + 1e-7]}, True),
        ({"a": 1}, {"b": 1}, False),
        ([1, 2], [1], False),
        (True, 1, False),
        (None, None, True),
        (None, 0, False),
        ("a", "a", True),
        ("ab", ["a", "b"], False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
    ],
)
def test_two_observations_agree_or_not(one: Plain, other: Plain, agree: bool) -> None:
    assert comparing.equal(one, other) is agree
    assert comparing.equal(other, one) is agree


def test_replies_agree_on_the_same_exception_with_the_same_message_only() -> None:
    broken = Reply(problem=Problem("RuntimeError", "size 3", (Line(0, 1, "x"),)))
    assert comparing.equal_replies(broken, Reply(problem=Problem("RuntimeError", "size 3")))
    assert not comparing.equal_replies(broken, Reply(problem=Problem("RuntimeError", "size 4")))
    assert not comparing.equal_replies(broken, Reply(problem=Problem("ValueError", "size 3")))
    assert not comparing.equal_replies(broken, Reply(3))


def test_a_shape_is_told_with_the_learners_axes_named_as_they_read_them() -> None:
    expected, got = torch.randn(2, 3, 5, 4), torch.randn(2, 5, 3, 4)
    difference = comparing.compare_shape("heads", got, expected, ["B", "h", "T", "d_k"], {})
    assert difference is not None
    assert difference.sentence == (
        "Expected `heads` of shape (2, 3, 5, 4) = (B, h, T, d_k). Got shape (2, 5, 3, 4) = (B, T, h, d_k)."
    )
    assert "order" in difference.cause


@pytest.mark.parametrize(
    ("got", "named"),
    [
        ((2, 1, 1, 5), ("B", "h", "1", "Tk")),
        ((2, 1, 5, 1), ()),  # which of the two axes of size 1 stands where?
        ((5, 1, 1, 2), ("Tk", "h", "1", "B")),
        ((2, 1, 5), ()),
        ((2, 1, 1, 6), ()),
    ],
)
def test_axes_of_one_size_are_named_only_where_it_stands_in_its_places(
    got: tuple[int, ...], named: tuple[str, ...]
) -> None:
    assert tuple(comparing.name_axes(got, (2, 1, 1, 5), ("B", "h", "1", "Tk"))) == named


def test_a_misplaced_axis_of_size_1_calls_for_no_transpose() -> None:
    expected, got = torch.randn(2, 1, 1, 5), torch.randn(2, 1, 5, 1)
    difference = comparing.compare_shape("mask", got, expected, ["B", "h", "1", "Tk"], {})
    assert difference is not None and difference.got == "shape (2, 1, 5, 1)"
    assert "expected at 1, 2, got at 1, 3" in difference.cause and "change places" not in difference.cause


def test_a_table_names_no_axis_1() -> None:
    expected = torch.ones(2, 1, 4).tril().bool()
    difference = comparing.compare_tensor("mask", ~expected, expected, ["B", "1", "T"])
    assert difference is not None and difference.picture is not None
    assert difference.picture["at"] == ["B 0"] and difference.picture["row_label"] == ""
    difference = comparing.compare_tensor("mask", ~expected, expected, ["1", "query", "key"])
    assert difference is not None and difference.picture is not None
    assert difference.picture["at"] == [] and difference.picture["row_label"] == "query"


def test_nan_everywhere_is_told_with_what_makes_it() -> None:
    difference = comparing.compare_shape("weights", torch.full((2, 3), math.nan), torch.randn(2, 3), [], {})
    assert difference is not None and difference.expected == "finite numbers in `weights`"
    assert "`exp`" in difference.advice and "fill it" not in difference.advice


def test_the_words_about_exp_in_float32_hold() -> None:
    assert torch.tensor(89.0).exp().isinf() and torch.tensor(88.0).exp().isfinite()
    assert torch.tensor(-104.0).exp() == 0 and torch.tensor(-103.0).exp() > 0


def test_a_result_of_another_kind_is_not_held_against_the_rule() -> None:
    returned = Problem("TypeError", "attention returned a tensor, not the pair (output, weights)")
    assert not comparing.explain_problem(returned).rule_helps
    assert comparing.explain_problem(Problem("TypeError", "other", (Line(0, 1, "x"),))).rule_helps


@pytest.mark.parametrize("got", [torch.zeros(2, 3), torch.full((2, 3), 7.0), torch.full((2, 3), math.nan)])
def test_one_number_everywhere_has_the_right_shape_and_still_fails(got: torch.Tensor) -> None:
    difference = comparing.compare_shape("y", got, torch.randn(2, 3), [], {})
    assert difference is not None and "everywhere" in difference.got
    assert comparing.compare_tensor("y", got, torch.randn(2, 3), []) is not None


def test_the_input_handed_back_has_the_right_shape_and_still_fails() -> None:
    x = torch.randn(2, 3)
    difference = comparing.compare_shape("y", x.clone(), torch.randn(2, 3), [], {"x": x})
    assert difference is not None and "`x` handed back unchanged" in difference.got
    assert comparing.compare_shape("y", x.clone(), x.clone(), [], {"x": x}) is None


def test_values_are_told_by_the_first_place_that_differs_and_what_the_places_share() -> None:
    expected = torch.arange(24.0).view(2, 3, 4)
    got = expected.clone()
    got[:, 1] += 1
    difference = comparing.compare_tensor("y", got, expected, ["B", "h", "T"])
    assert difference is not None
    assert difference.expected == "4 in `y` at [B 0, h 1, T 0]"
    assert difference.got == "5 there; 8 of 24 numbers differ, all of them at h 1"
    assert difference.picture is not None and difference.picture["differs"][1] == [True] * 4


def test_a_number_that_is_not_finite_is_told_first() -> None:
    difference = comparing.compare_tensor("y", torch.tensor([1.0, math.nan]), torch.tensor([2.0, 3.0]), [])
    assert difference is not None and "nan at [1]" in difference.got and "finite" in difference.expected


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (3, 4, "`n` = 4"),
        ({"viewed": [1, 2]}, {"viewed": [2, 1]}, "`viewed` = (2, 1)"),
        ({}, {"viewed": [2, 1]}, "the key `viewed`"),
        ("x", 1050624, "`n` = 1,050,624"),
    ],
)
def test_plain_values_that_differ_are_told(got: Plain, expected: Plain, words: str) -> None:
    difference = comparing.compare_plain("n", got, expected)
    assert difference is not None and words in difference.expected


def test_an_exception_is_told_with_the_learners_own_line_and_the_classics_with_their_cause() -> None:
    problem = Problem(
        "RuntimeError",
        "view size is not compatible with input tensor's size.",
        (Line(4, 3, "    return x.view(2, 6)"),),
    )
    difference = comparing.explain_problem(problem)
    assert "in your line 3, `return x.view(2, 6)`" in difference.got
    assert not difference.sentence.endswith("..") and ".contiguous()" in difference.advice
    assert comparing.explain_problem(Problem("ValueError", "")).got == "ValueError"

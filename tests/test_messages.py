"""What a learner is told: the cause of an exception, where numbers differ, and where an unknown fault lies."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
import torch
from failing_notebooks import FAILING
from torch import nn

from autograder import classics, comparing, probes, solved
from autograder.grading.submission import Grader
from autograder.observations import Problem, Request
from autograder.pages.panel import panel_html, panel_text
from autograder.results import CheckResult

# -- exceptions: answers that cause them, run as every answer is ------------------------------------------------------

MODULE = """class answer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
"""
RAISING = {
    "return x.transpose(1, 2).view(2, 12)": "`.contiguous()`",
    "return torch.zeros(2, 3, 4, 5) * torch.ones(2, 4, 5)": "on axis 1 one is 3 long and the other 2",
    "return x + torch.ones(3, 3)": "on axis 2 one is 4 long and the other 3",
    "return x.masked_fill_(torch.ones(2, 2, 3, 4) == 0, 0)": "grow to (2, 2, 3, 4)",
    "return x.expand(2, 3, 5)": "An axis of size 4 cannot become 5",
    "return x.expand(3, 4)": "the tensor has 3 axes, and 2 sizes",
    "return x @ x": "Here 4 meets 3",
    "return x[0] @ x[0]": "Here 3x4 meets 3x4",
    "return x.view(2, 5)": "The tensor has 24; (2, 5)",
    "return x.unflatten(-1, (3, 2))": "cuts an axis of 4: the sizes (3, 2)",
    "return torch.cat([x, torch.ones(2, 3, 5)], 1)": "Here 4 meets 5",
    "return torch.stack([x, x[0]])": "Here (2, 3, 4) meets (3, 4)",
    "return torch.einsum('bij,bjk->bik', x, x)": "the letter j names one length",
    "return x.transpose(1, 3)": "the last of this tensor is 2, and 3",
    "return x[3]": "Axis 0 is 2 long",
    "return x[0, 0, 0, 0]": "The tensor has 3 axes",
    "return [x][1]": "The list is shorter",
    "B, h, T, d_k = x.shape": "On the left stand 4 names",
    "B, T = x.shape": "On the left stand 2 names",
    "return x.half().masked_fill(x > 0, -1e9)": "65,504",
    "return x + torch.ones(4, device='meta')": "different devices",
    "return nn.Linear(4, 4)(x.double())": "different dtypes",
    "return x @ x.double().transpose(1, 2)": "different dtypes",
    "return x.masked_fill(torch.ones(2, 3, 4).long(), 0)": "`mask == 0`",
    "return torch.where(torch.ones(2, 3, 4), x, x)": "`mask == 0`",
    "return ~torch.ones(3)": "`mask == 0`",
    "return x.view(2, 3, 2, 4 / 2)": "Divide with `//`",
    "return [x for _ in range(4 / 2)]": "Divide with `//`",
    "nn.Linear(2, 2).weight[0] = 0": "torch.no_grad()",
    "nn.Linear(2, 2).weight.mul_(2)": "torch.no_grad()",
    "y = x.requires_grad_().exp()\n    y += 1\n    y.sum().backward()": "written over",
    "return nn.Linear(4, 4)(x).numpy()": "Stay in PyTorch",
    "return x if x > 0 else 0": "if mask is not None",
    "return math.sqrt(x)": "`.sqrt()`",
    "return None[0]": "`return`",
    "a, b = print()": "`return`",
    "return x @ print()": "`return`",
    "return print().shape": "`return`",
    "return d_k": "`self.d_k`",
    "y = y + 1": "before it gets a value",
    "return x.foo": "A tensor has no `foo`.",
    "return (x, x).transpose(1, 2)": "`a, b = function(...)`",
    "return nn.Linear(4, 4)((x, x))": "`a, b = function(...)`",
    "return (x, x) / 2": "`a, b = function(...)`",
    "return (x, x) + x": "`a, b = function(...)`",
    "return (x, x)[:, 0]": "`a, b = function(...)`",
    "return [x, x].view(2, 12)": "`torch.stack`",
    "return torch.transpose([x, x], 1, 2)": "`torch.stack`",
    "return (x, x).append(x)": "A tuple has no `append`.",
    "return x.tranpose(1, 2)": "Is `transpose` meant?",
    "return torch.sofmax(x, -1)": "Is `softmax` meant?",
    "return nn.ModuleList(nn.Linear(2, 2) for _ in 3)": "`for _ in range(N)`",
    "nn.Linear(4, 4).weight = x[0]": "a plain tensor cannot take its place",
    "assert x.size(0) == 3": "in the order of the task",
    "return nn.Liner(4, 4)": "torch.nn has no `Liner`. Is `Linear` meant?",
    "return answer(x, x)": "was given 2 arguments and takes 1",
    "return answer()": "was called without 'x'",
    "return torch.softmax(x, axes=1)": "",
    "return answer(x, axis=1)": "an axis is called `dim`",
    "return [nn.Linear(4, 4)](x)": "stands a list",
    "p = 0.1\n    return p(x)": "stands a number (float)",
    "return nn.ModuleList([])(x)": "has no `forward`",
    "return answer(x)": "without end",
    "return {}['heads']": "There is no key 'heads'",
}  # fmt: skip


def problem_in(code: str) -> Problem:
    """What an answer with this code raises, seen as the engine sees it."""
    names: dict[str, object] = {"torch": torch, "nn": nn, "math": math}
    exec(compile(code, "<cell>", "exec"), names)
    reply = probes.observe(
        {"call": lambda names, x: names["answer"](x)}, names, Request("e", "c", "call", {"x": torch.randn(2, 3, 4)}, 1)
    )
    assert reply.problem is not None, "the code raises nothing"
    return reply.problem


@pytest.mark.parametrize(("body", "words"), [(body, words) for body, words in RAISING.items() if words])
def test_an_exception_is_told_with_its_cause_in_words(body: str, words: str) -> None:
    problem = problem_in(f"def answer(x):\n    {body}\n")
    difference = comparing.explain_problem(problem)
    told = f"{difference.message}\n\n{difference.advice}"
    assert words in told and difference.cause, (problem.kind, problem.message, told)
    assert "in your line" in difference.got and "Traceback" not in difference.sentence


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            MODULE.replace("        super().__init__()\n", "") + "    def forward(self, x): return x\n",
            "super().__init__()",
        ),
        (MODULE + "    def forward(self, x): return self.linear(x)\n", "`self.linear = ...`"),
        (MODULE + "    def forward(x): return x\n", "first argument is `self`"),
    ],
)
def test_an_exception_in_a_module_is_told_with_its_cause_in_words(code: str, words: str) -> None:
    code = code.replace("class answer", "class Answer") + "def answer(x):\n    return Answer()(x)\n"
    assert words in comparing.explain_problem(problem_in(code)).advice


def test_every_classic_is_caused_by_some_answer_here() -> None:
    problems = [problem_in(f"def answer(x):\n    {body}\n") for body, words in RAISING.items() if words]
    modules = [Problem("AttributeError", "cannot assign module before Module.__init__() call")]
    for classic in classics.classics():
        assert any(classic.explain(problem) for problem in [*problems, *modules]), classic.pattern


def test_words_hold_no_empty_place_and_no_brackets_of_ours() -> None:
    for body, words in RAISING.items():
        if words:
            advice = classics.explain(problem_in(f"def answer(x):\n    {body}\n"))
            assert "{" not in advice.replace("{}", "") and "``" not in advice and "  " not in advice, advice


def test_an_error_that_only_looks_like_the_stub_is_told_as_what_it_is() -> None:
    difference = comparing.explain_problem(
        Problem("NotImplementedError", 'Module [x] is missing the required "forward" function')
    )
    assert "stub" not in difference.got


# -- where numbers differ ----------------------------------------------------------------------------------------------


def changed(change: Callable[[torch.Tensor], None]) -> comparing.Difference:
    expected = torch.linspace(-1, 2.1, 60).view(3, 4, 5)
    got = expected.clone()
    change(got)
    forbidden = torch.arange(5).expand(3, 4, 5) >= 3
    difference = comparing.compare_tensor("weights", got, expected, ["B", "Tq", "Tk"], forbidden)
    assert difference is not None
    return difference


def test_differences_where_the_mask_forbids_are_told_as_such() -> None:
    assert "only where the mask forbids" in changed(lambda t: t[..., 3:].add_(1)).got
    assert "only where the mask allows" in changed(lambda t: t[..., :2].add_(1)).got


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t[1].add_(1), "all of them at B 1"),
        (lambda t: t[:, 2].add_(1), "all of them at Tq 2"),
        (lambda t: t[:, 2:].mul_(3), "all of them from Tq 2 on"),
        (lambda t: t[1:].mul_(3), "all of them from B 1 on"),
        (lambda t: t.mul_(3), "60 of 60 numbers differ"),
    ],
)
def test_what_the_differences_share_is_told(change: Callable[[torch.Tensor], None], words: str) -> None:
    assert words in changed(change).got


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.mul_(2), "Every number is 2 times the expected one."),
        (lambda t: t.add_(0.5), "Every number is the expected one plus 0.5."),
        (lambda t: t.copy_(t.flip(0)), "All the expected numbers are there, in other places."),
        (lambda t: t.copy_(t**2 + 3), ""),
        (lambda t: t.zero_(), ""),
    ],
)
def test_a_pattern_over_all_numbers_is_told(change: Callable[[torch.Tensor], None], words: str) -> None:
    assert changed(change).cause == words


# -- where an unknown fault lies ---------------------------------------------------------------------------------------

LOUDER = "copy.deepcopy(module).apply(lambda m: [p.data.mul_(1.1) for p in m.parameters(False)])"
TWICE_W_Q = ".weight.copy_(weight * (1 + (linear is mha.linears[0])))"
TWICE_IF_3 = ".weight.copy_(weight * (1 + (mha.h == 3)))"
SHARES_NORM = "[c := copy.deepcopy(module), isinstance(c, nn.Linear) or c.__setitem__(1, module[1])][0]"
SHARES_LINEAR = SHARES_NORM.replace("(1, module[1])", "(0, module[0])")
ONE_MORE = "copies = nn.ModuleList()\n    copies.more = nn.Parameter(torch.zeros(1))\n    return copies.extend(["
BIAS_FROZEN = "for _ in range(N)] + [p.requires_grad_(False) for p in list(module.parameters())[1:2]][:0]"
DROPS_LESS = "mask=mask, dropout=lambda w: F.dropout(w, self.dropout.p**2, self.training)"
ONE_OF_TWO = "one = copy.deepcopy(module)\n    return nn.ModuleList([one if _ % 2 else "


def first_failure(grader: Grader, exercise: str, *changes: tuple[str, str]) -> CheckResult:
    """The first failed check of the reference with some texts replaced."""
    code = next(cell.source for cell in grader.reference if cell.grade_id == exercise)
    for old, new in changes:
        assert old in code, old
        code = code.replace(old, new)
    result = grader.judge_exercise_alone(solved.with_answer(list(grader.reference), exercise, code), exercise)
    failed = [check for check in result.checks if check.status == "failed"]
    assert failed and not any(check.misconception for check in failed), [check.misconception for check in failed]
    return failed[0]


# exercise, a text of the reference's answer, what stands in its place, what is said of where the fault lies
UNKNOWN = [
    ("attention", "math.sqrt(d_k)", "(d_k + 3)", "fault lies in the scores"),
    ("attention", "scores.softmax(dim=-1)", "scores.softmax(dim=-1) * 0.9", "how the weights meet the values"),
    ("attention", "weights @ value, weights", "weights**2 @ value, weights", "how the weights meet the values"),
    ("attention", "mask == 0", "mask.flip(-1) == 0", "in whether the mask is used"),
    ("attention", "query @ key", "(query + query.detach()) / 2 @ key", "gradient's way back"),
    ("MultiHeadedAttention", "self.linears[-1](x)", "self.linears[-1](x) * 1.1", "lies in V, in W_O"),
    ("MultiHeadedAttention", "attention(query,", "attention(query * 1.1,", "fault lies in Q, in K"),
    ("MultiHeadedAttention", "mask.unsqueeze(1)", "mask.unsqueeze(1).roll(1, 0)", "where its axis for the heads"),
    ("split_heads", "x.view(B,", "x.roll(1, 2).view(B,", "within a token"),
    ("mix_heads", "parts.sum(dim=1)", "parts.sum(dim=1) * 1.1", "the sum over the heads"),
    ("mix_heads", "heads @ blocks", "heads @ blocks + 0.1", "or another constant, stands in its part"),
    ("clones", "copy.deepcopy(module)", LOUDER, "in how one copy is made"),
    ("clones", "return nn.ModuleList([", ONE_OF_TWO, "a whole object, or the memory"),
    ("masks", "tokens != pad)", "(tokens != pad) & (tokens > 4))", "in what it compares"),
    ("masks", "tokens != pad)", "(tokens != pad) & (tokens != 0))", "what is taken for granted"),
    ("masks", ".tril()", ".tril().flip(1)", "which side of the diagonal"),
    ("masks", ".tril()", ".tril().to(torch.uint8)", "in the dtype alone"),
    ("masks", "mask.unsqueeze(1)", "mask.flip(-1).unsqueeze(1)", "cells that are changed"),
    ("predict", '"merged": (batch, tokens, d_model)', '"merged": (batch, d_model, tokens)', "outside the heads"),
    ("predict", '"heads": (batch, h, tokens, d_k)', '"heads": (h, tokens, batch, d_k)', "lies in the split"),
    ("predict", '"scores": (batch, h, tokens, tokens)', '"scores": (batch, h, d_k, d_k)', "in what one head does"),
    ("predict", "4 * (d_model", "5 * (d_model", "first count one linear"),
    ("load_torch_weights", "linear.bias.copy_(bias)", "linear.bias.copy_(-bias)", "what W_V or W_O was given"),
    ("load_torch_weights", ".weight.copy_(weight)", TWICE_W_Q, "what W_Q or W_K was given"),
    ("silence_head", "= 0", "*= 0.5", "a part of the head stays"),
    ("silence_head", "] = 0", "] = 0\n        mha.linears[-1].weight *= 1.3", "which numbers belong to one head"),
    ("silence_head", "] = 0", "] = 0\n        mha.linears[1].weight[first] = 0", "change to W_Q, to W_K"),
    ("silence_head", "+ mha.d_k] = 0", "+ mha.d_k if head else None] = 0", "the fault lies at the ends"),
    ("silence_head", "] = 0", "] = 0\n        mha.linears[-1].bias += head != 1 and mha.h == 3", "a second call does"),
    ("attention", "scores.softmax(dim=-1)", "scores.softmax(dim=-1) ** 2", "do not sum to 1"),
    ("attention", "scores.masked_fill(", "(scores * 1.1).masked_fill(", "several allowed keys"),
    ("attention", "mask == 0", "(mask.flip(-1) if mask.dtype == torch.int64 else mask) == 0", "how the mask is used"),
    ("MultiHeadedAttention", "mask.unsqueeze(1)", "mask.flip(-1).unsqueeze(1)", "in whether the mask is used"),
    ("MultiHeadedAttention", "[-1](x)", "[-1](x * (1 + (self.h == 1)))", "K, the scale and the softmax are sound"),
    ("MultiHeadedAttention", "mask=mask, dropout=self.dropout", DROPS_LESS, "between training and evaluation"),
    ("split_heads", "x.view(B,", "x.roll(1, 1).view(B,", "how the axes are moved"),
    ("split_heads", ".transpose(1, 2)", ".transpose(1, 2).clone() + 0 * x.data.mul_(2).sum()", "what a call changes"),
    ("split_heads", "x.view(B,", "x.double().view(B,", "which kind of numbers is made"),
    ("split_heads", "x.view(B,", "(x + torch.zeros(1)).view(B,", "where new tensors are made"),
    ("merge_heads", "x.transpose(1, 2)", "x.transpose(1, 2).roll(1, 2)", "which two axes stand last"),
    ("merge_heads", "x.transpose(1, 2)", "x.transpose(1, 2).roll(1, 3)", "lies within a head"),
    ("mix_heads", "heads @ blocks", "heads @ blocks * 1.1", "which numbers of `weight` a head meets"),
    ("predict", "+ d_model)", "+ d_model) + (h in (1, 12))", "where `h` enters the count"),
    ("clones", "copy.deepcopy(module)", SHARES_NORM, "how those are copied, or in buffers"),
    ("clones", "copy.deepcopy(module)", SHARES_LINEAR, "how those are copied, or in buffers"),
    ("clones", "return nn.ModuleList([", ONE_MORE, "what holds the copies"),
    ("clones", "for _ in range(N)]", BIAS_FROZEN, "what the call does to `module` itself"),
    ("masks", "(tokens != pad)", "((tokens != pad) | (0 * tokens.add_(1) != 0))", "what the call does to `tokens`"),
    ("masks", "mask.unsqueeze(1)", "[mask.clone().unsqueeze(1), mask.logical_not_()][0]", "the mask that it was given"),
    ("load_torch_weights", ".weight.copy_(weight)", TWICE_IF_3, "are right, so W_Q and W_K are loaded"),
    ("load_torch_weights", "copy_(bias)", "copy_(bias).requires_grad_(False)", "no parameter that can learn"),
    ("load_torch_weights", ".bias.copy_(bias)", ".bias.data = bias.data", "is a tensor of the other"),
    ("load_torch_weights", "copy_(bias)", "copy_(bias), bias.mul_(2)", "what the call does to `torch_mha`"),
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "old", "new", "words"), UNKNOWN)
def test_an_unknown_fault_is_narrowed_down(grader: Grader, exercise: str, old: str, new: str, words: str) -> None:
    assert words in first_failure(grader, exercise, (old, new)).narrows


def test_wrong_blocks_with_the_bias_in_each_part_are_told_one_after_the_other(grader: Grader) -> None:
    code = (
        "def mix_heads(heads, weight, bias):\n"
        "    h, d_k = heads.size(1), heads.size(3)\n"
        "    parts = []\n"
        "    for i in range(h):\n"
        "        block = weight.T[i :: h]\n"
        "        parts.append(heads[:, i] @ block + bias)\n"
        "    parts = torch.stack(parts, dim=1)\n"
        "    return parts, parts.sum(dim=1)\n"
    )
    cells = solved.with_answer(list(grader.reference), "mix_heads", code)
    failed = [c for c in grader.judge_exercise_alone(cells, "mix_heads").checks if c.status == "failed"]
    assert "bias, or another constant" in failed[0].narrows
    assert "in which numbers of `weight`" not in failed[0].narrows


def test_a_name_that_is_not_there_is_not_taken_for_an_attribute() -> None:
    advice = classics.explain(problem_in("def answer(x):\n    return x / d_k\n"))
    first, then, last = advice.split("\n\n")
    assert "self" not in first + then and last.startswith("In a method of a class")


def test_a_cause_is_told_once_in_a_terminal(grader: Grader) -> None:
    code = next(one.code for one in grader.source.wrong if one.path == "attention/no_scale")
    cells = solved.with_answer(list(grader.reference), "attention", code)
    result = grader.judge_exercise_alone(cells, "attention")
    assert sum(check.misconception is not None for check in result.checks) > 1
    said = panel_text([result], chapter_link=grader.assignment.chapter_link, recorded=False, total=False)
    assert said.count("Likely cause") == 1 and "The same cause." in said
    words = " ".join(said.split())
    for layer in {layer for check in result.checks if check.misconception for layer in check.hint.split("\n\n")[:1]}:
        assert words.count(layer.replace("`", "")) <= 1 and words.count(layer) <= 1


def test_where_the_fault_lies_stands_in_the_panel(grader: Grader) -> None:
    code = (
        "def split_heads(x, h):\n    B, T, d = x.shape\n    return x.roll(1, 2).view(B, T, h, d // h).transpose(1, 2)\n"
    )
    cells = solved.with_answer(list(grader.reference), "split_heads", code)
    result = [grader.judge_exercise_alone(cells, "split_heads")]
    shown = {"chapter_link": grader.assignment.chapter_link, "recorded": False, "total": False}
    assert "Where the fault lies" in panel_html(result, **shown)
    assert "Where the fault lies: Each token keeps its own numbers" in panel_text(result, **shown)


def test_parts_that_are_sound_are_named_before_the_one_that_is_not(grader: Grader) -> None:
    said = first_failure(grader, "MultiHeadedAttention", ("attention(query,", "attention(query * 1.1,")).narrows
    assert said.startswith("With one token the output is right, so V and W_O are sound. With V and W_O")


def test_a_known_mistake_and_an_exception_need_no_narrowing(grader: Grader) -> None:
    for code in (
        next(one.code for one in grader.source.wrong if one.path == "attention/no_scale"),
        "def attention(query, key, value, mask=None, dropout=None):\n    return query @ key\n",
    ):
        result = grader.judge_exercise_alone(solved.with_answer(list(grader.reference), "attention", code), "attention")
        assert not any(check.narrows for check in result.checks)
        assert any(check.status == "failed" for check in result.checks)


def test_of_two_mistakes_the_first_to_fail_is_narrowed_down_though_the_other_is_known(grader: Grader) -> None:
    code = next(one.code for one in FAILING if one.name == "no-scale-wrong-axis")
    result = grader.judge_exercise_alone(solved.with_answer(list(grader.reference), "attention", code), "attention")
    first, *others = [check for check in result.checks if check.status == "failed"]
    assert first.misconception is None and "lies in the softmax" in first.narrows
    assert "scores-not-scaled" in {check.misconception for check in others}
    assert not any(check.narrows for check in others)


# A wrong answer of the bank: what it is told at its first failure, what it is not told, the chapter to reread.
TOLD = [
    ("silence_head/columns_64", "A size is written into your code as a number.", "copy", "w_o"),
    ("silence_head/rows_64", "A size is written into your code as a number.", "copy", "w_o"),
    ("silence_head/a_copy_changed", "The module keeps all its numbers.", "as a number", "w_o"),
    ("silence_head/bias_of_w_o_too", "the bias of W_O, too", "", "w_o"),
    ("silence_head/block_of_the_bias_too", "the bias of W_O, too", "", "w_o"),
    ("load_torch_weights/transposed", "without .T", "by hand", "whole-module"),
    ("load_torch_weights/in_proj_transposed", "without .T", "", "whole-module"),
    ("load_torch_weights/w_o_transposed", "without .T", "", "whole-module"),
    ("load_torch_weights/no_biases", "in_proj_bias.chunk(3)", "every place", "whole-module"),
    ("load_torch_weights/biases_zeroed", "in_proj_bias.chunk(3)", "", "whole-module"),
    ("load_torch_weights/w_o_bias_forgotten", "out_proj.bias", "every place", "whole-module"),
    ("MultiHeadedAttention/pair_transposed", "attention returns a pair", "self.transpose", "whole-module"),
    ("MultiHeadedAttention/pair_handed_to_merge_heads", "attention returns a pair", "self.shape", "whole-module"),
    ("MultiHeadedAttention/attn_not_kept", "Got None.", "the text", "whole-module"),
    ("predict/no_biases", "Biases are missing from your count.", "W stands", "clones"),
    ("predict/one_bias", "Biases are missing from your count.", "", "clones"),
    ("attention/softmax_by_hand_overflows", "before `exp`, or let `softmax` do it", "fill it from", "attention"),
    ("attention/output_alone", "Return the pair (output, weights).", "axes of key", "attention"),
    ("split_heads/view_alone", "cannot make two of them change places", "by itself", "splitting-heads"),
    ("merge_heads/swaps_tokens_and_width", "Swap heads and tokens alone", "", "merging"),
    ("merge_heads/swaps_heads_and_width", "Swap heads and tokens alone", "", "merging"),
    ("masks/share_at_the_end", "in the wrong place: expected at 1, 2, got at 1, 3", "change places", "masks"),
    ("masks/share_at_the_end", "of shape (2, 1, 1, 5) = (B, 1, 1, Tk).", "(B, h, 1", "masks"),
    ("MultiHeadedAttention/linears_times_h", "h for the number of linears", "three linears", "clones"),
    ("MultiHeadedAttention/dropout_kept_as_a_number", "keep the probability itself", "things[0]", "whole-module"),
    ("MultiHeadedAttention/dropout_default", "a fixed probability", "", "whole-module"),
    ("silence_head/attn_filled_with_zeros", "You write into `attn`.", "", "w_o"),
]


@pytest.mark.parametrize(("path", "words", "not_these", "chapter"), TOLD)
def test_a_wrong_answer_is_told_what_helps_and_nothing_beside_it(
    grader: Grader, path: str, words: str, not_these: str, chapter: str
) -> None:
    variant = next(one for one in grader.source.wrong if one.path == path)
    result = grader.judge_exercise_alone(grader.cells_with(variant), variant.exercise)
    first = next(check for check in result.checks if check.status == "failed")
    said = "\n".join([first.says, first.message, first.hint])
    assert words in said and not (not_these and not_these in said), said
    assert first.chapter == chapter


DROPPED_SCORES = "weights = (scores if dropout is None else dropout(scores)).softmax(dim=-1)\n    dropout = None"
ONE_KEPT = "w = mha.linears[-1].weight\n        w *= torch.arange(len(w)).div(mha.d_k, rounding_mode='floor') == head"

# exercise, a text of the reference's answer, what stands in its place, the misconception at its first failure
NAMED = [
    ("predict", "return 4 * (", "return h * (", "as-many-linears-as-heads"),
    ("predict", "return 4 * (", "return h * 4 * (", "linear-per-head"),
    ("attention", "weights = scores.softmax(dim=-1)", DROPPED_SCORES, "dropout-before-softmax"),
    ("mix_heads", "parts.sum(dim=1)", "parts.sum(dim=2)", "parts-summed-over-another-axis"),
    ("mix_heads", "return parts,", "return torch.stack([*parts.unbind(1)], 2),", "parts-stacked-behind-the-tokens"),
    ("MultiHeadedAttention", "d_model), 4)", "d_model), h)", "as-many-linears-as-heads"),
    ("MultiHeadedAttention", "d_model), 4)", "d_model), 3)", "three-linears"),
    ("MultiHeadedAttention", "nn.Dropout(p=dropout)", "dropout", "dropout-kept-as-a-number"),
    ("MultiHeadedAttention", "p=dropout", "", "dropout-argument-ignored"),
    ("MultiHeadedAttention", "p=dropout", "p=0.3", "dropout-argument-ignored"),  # whatever the number is
    ("MultiHeadedAttention", "linears[-1](x)", "linears[0](x)", "linears-mixed-up"),
    ("silence_head", "mha.linears[-1].weight[:, first : first + mha.d_k] = 0", ONE_KEPT, "others-silenced"),
    ("silence_head", "mha.linears[-1].weight[:, first : first + mha.d_k]", "mha.attn[:, head]", "attn-written-into"),
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "old", "new", "misconception"), NAMED)
def test_a_mistake_is_named_in_whatever_code_it_stands(
    grader: Grader, exercise: str, old: str, new: str, misconception: str
) -> None:
    code = next(cell.source for cell in grader.reference if cell.grade_id == exercise)
    assert old in code
    cells = solved.with_answer(list(grader.reference), exercise, code.replace(old, new))
    failed = [c for c in grader.judge_exercise_alone(cells, exercise).checks if c.status == "failed"]
    assert failed[0].misconception == misconception


def test_an_axis_of_size_1_that_holds_no_head_is_not_called_h(grader: Grader) -> None:
    read = re.compile(r"\(([\d, ]+)\) = \(([^)]+)\)")
    for variant in grader.source.wrong:
        if variant.exercise == "masks":
            for check in grader.judge_exercise_alone(grader.cells_with(variant), "masks").checks:
                for sizes, names in read.findall(check.message):
                    assert ("1", "h") not in set(zip(sizes.split(", "), names.split(", "), strict=True)), check.message


def test_what_was_not_loaded_is_known_however_the_module_drew_its_numbers(grader: Grader) -> None:
    module = next(cell.source for cell in grader.reference if cell.grade_id == "MultiHeadedAttention")
    old = "clones(nn.Linear(d_model, d_model), 4)"
    assert old in module
    four = module.replace(old, "nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])")
    cells = solved.with_answer(list(grader.reference), "MultiHeadedAttention", four)
    for variant in grader.source.wrong:
        if variant.path in ("load_torch_weights/no_biases", "load_torch_weights/w_o_forgotten"):
            wrong = solved.with_answer(cells, variant.exercise, variant.code)
            result = grader.judge_exercise_alone(wrong, variant.exercise)
            first = next(check for check in result.checks if check.status == "failed")
            assert first.misconception == variant.misconception


def test_hints_come_in_layers_the_nearest_first(grader: Grader) -> None:
    code = "def merge_heads(x):\n    B, h, T, d_k = x.shape\n    return x.transpose(1, 2).view(B, T, h * d_k) * 1\n"
    cells = solved.with_answer(list(grader.reference), "merge_heads", code)
    failed = [c for c in grader.judge_exercise_alone(cells, "merge_heads").checks if c.status == "failed"]
    layers = failed[0].hint.split("\n\n")
    assert len(layers) > 1 and len(set(layers)) == len(layers)

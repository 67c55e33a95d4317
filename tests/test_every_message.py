"""Every sentence that a rule, a comparison or a verdict can tell is told to somebody: no dead words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from attack_support import ATTACKS
from failing_notebooks import FAILING
from test_course_content import IDLE
from test_messages import RAISING, UNKNOWN, problem_in

from autograder import comparing, solved
from autograder.grading.judging import block_dependents, explain_death
from autograder.grading.submission import Grader
from autograder.notebooks import Cell
from autograder.observations import Death, Plain
from autograder.results import ExerciseResult

ROOT = Path(__file__).parents[1]
ENGINE = ("comparing", "classics", "diagnosing", "grading/judging")

DEADLY = ("exits_in_an_answer", "segmentation_fault", "huge_reply", "sleeps")

# A GPU that is in truth the CPU, so that the reports on GPUs have something to say.
GPU = """
torch.cuda.is_available = lambda: True
torch.cuda.get_device_name = lambda: "none"
_to = torch.Tensor.to
torch.Tensor.to = lambda self, *where: _to(self, *["cpu" if one == "cuda" else one for one in where])
"""

# Changes to the reference that the banks and the other tests do not hold: exercise, a text, what stands in its place.
MORE = [
    ("predict", '"projected": (batch, tokens, d_model)', '"projected": "(B, T, d_model)"'),
    ("attention", "    d_k =", "    raise NotImplementedError()\n    d_k ="),
    ("attention", "    if mask is not None:", "    if mask is not None:\n        raise NotImplementedError()"),
    ("attention", "weights @ value, weights", "(weights @ value).to(torch.complex64), weights"),
    ("attention", "    if dropout", "    weights = weights + 0.1 * (0 if mask is None else mask == 0)\n    if dropout"),
    ("attention", "    if mask is not", "    scores = scores.clamp(min=-100.0)\n    if mask is not"),
    (
        "attention",
        "    if mask is not",
        "    scores = scores * (1 + (query.dtype == torch.float16))\n    if mask is not",
    ),
    (
        "MultiHeadedAttention",
        "dropout=self.dropout)",
        "dropout=self.dropout)\n        x = attention(query, key, value, mask=mask)[0]",
    ),
]


def literals(path: Path) -> Iterator[str]:
    """Texts that stand in `_(...)`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "_" and isinstance(node.args[0], ast.Constant):
            yield str(node.args[0].value)


def texts_that_can_be_told(grader: Grader) -> dict[str, str]:
    """Every layer of every text, with the place where it stands."""
    found: dict[str, str] = {}
    files = [ROOT / "autograder" / f"{name}.py" for name in ENGINE]
    files += sorted(grader.assignment.checks.glob("*.py"))
    for path in files:
        for text in literals(path):
            found.update(dict.fromkeys(text.split("\n\n"), path.name))
    for rule in grader.rules:
        for text in (rule.sentence, rule.stage.hint, rule.stage.blames, rule.stage.clears):
            if text:
                found[text] = f"{rule.exercise}/{rule.name}"
    return found


def told(results: Sequence[ExerciseResult]) -> Iterator[str]:
    for result in results:
        for check in result.checks:
            yield from (check.rule, check.message, check.hint, check.says, check.narrows)


def everything_told(grader: Grader) -> Iterator[str]:
    """What answers are told: those of the banks, those of other tests, and those above."""
    reference = list(grader.reference)
    for variant in (*grader.source.wrong, *grader.source.right):
        yield from told([grader.judge_exercise_alone(grader.cells_with(variant), variant.exercise)])
    answers = [(exercise, code) for exercise, codes in IDLE.items() for code in codes]
    answers += [(failing.exercise, failing.code) for failing in FAILING]
    answers += [(one.where.removeprefix("answer "), one.code) for one in ATTACKS if one.name in DEADLY]
    for exercise, old, new in [*((one[0], one[1], one[2]) for one in UNKNOWN), *MORE]:
        code = next(cell.source for cell in reference if cell.grade_id == exercise)
        assert old in code, old
        answers.append((exercise, code.replace(old, new)))
    for exercise, code in answers:
        yield from told([grader.judge_exercise_alone(solved.with_answer(reference, exercise, code), exercise)])
    half = next(c.source for c in reference if c.grade_id == "attention").replace(
        "    d_k =", "    if query.dtype == torch.float16:\n        value = value + 1\n    d_k ="
    )
    yield from told(
        [
            grader.judge_exercise_alone(
                [Cell(GPU, "", ()), *solved.with_answer(reference, "attention", half)], "attention"
            )
        ]
    )
    for reason in ("memory", "reply"):  # `test_sandbox.py` has cells that die of them, on some machines otherwise
        death = explain_death(Death(reason))
        yield from (death.message, death.advice)
    # What only a process that lies about its probes replies.
    yield from (comparing.describe(torch.zeros(2)), difference_of({"b": 1}, {"a": 1}))
    without = [cell for cell in reference if cell.grade_id != "attention"]
    yield from told(grader.judge(without))
    wrong = solved.with_answer(reference, "attention", IDLE["attention"][0])
    broken = {result.name: result for result in grader.judge(wrong)}
    module = grader.judge_exercise_alone(wrong, "MultiHeadedAttention")
    yield from told(list(block_dependents(grader.assignment, {**broken, module.name: module}).values()))
    gone = {result.name: result for result in grader.judge(without)}
    yield from told(list(block_dependents(grader.assignment, {**gone, module.name: module}).values()))
    for body, words in RAISING.items():
        if words:
            difference = comparing.explain_problem(problem_in(f"def answer(x):\n    {body}\n"))
            yield from (difference.message, difference.advice)


def difference_of(got: Plain, expected: Plain) -> str:
    difference = comparing.compare_plain("parts", got, expected)
    assert difference is not None
    return difference.message


def pattern(text: str) -> re.Pattern[str]:
    parts = re.split(r"\{\w*\}", text.replace("{{", "\0").replace("}}", "\1"))
    return re.compile(".*?".join(re.escape(part.replace("\0", "{").replace("\1", "}")) for part in parts))


@pytest.mark.long
def test_every_text_is_told_to_somebody(grader: Grader) -> None:
    said = {layer for text in everything_told(grader) for layer in text.split("\n\n")}
    dead = [
        f"{where}: {text}"
        for text, where in texts_that_can_be_told(grader).items()
        if not any(map(pattern(text).search, said))
    ]
    assert not dead, "\n".join(dead)

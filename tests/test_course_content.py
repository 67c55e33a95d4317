"""The course's own content: its source, its rules and its banks say what the course promises."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3

from autograder import solved
from autograder.course import Source, Variant
from autograder.grading.submission import Grader
from autograder.results import GATING_STAGES, STAGES, total

ROOT = Path(__file__).parents[1]
POINTS = {
    "predict": 8,
    "attention": 15,
    "clones": 8,
    "split_heads": 10,
    "masks": 12,
    "merge_heads": 10,
    "mix_heads": 10,
    "MultiHeadedAttention": 17,
    "load_torch_weights": 5,
    "silence_head": 5,
}


@pytest.fixture(scope="module")
def notebook(source: Source) -> Any:
    return solved.solved_notebook(source)


# -- the source -------------------------------------------------------------------------------------------------------


def test_the_ten_exercises_stand_in_order_and_sum_to_100(source: Source) -> None:
    assert {exercise.name: exercise.points for exercise in source.assignment.exercises} == POINTS
    assert list(source.assignment.by_name) == list(POINTS)
    assert source.assignment.max_score == 100


def test_the_solved_notebook_is_valid_for_jupyter_and_nbgrader(notebook: Any) -> None:
    nbformat.validate(notebook)
    MetadataValidatorV3().validate_nb(notebook)
    for cell in notebook.cells:
        assert cell.metadata["nbgrader"]["cell_type"] == cell.cell_type


def test_each_exercise_has_a_task_an_answer_and_one_graded_check(notebook: Any) -> None:
    cells = {cell.metadata["nbgrader"]["grade_id"]: cell for cell in notebook.cells}
    for name, points in POINTS.items():
        task, answer, check = (cells[key] for key in (f"about-{name}", name, f"check-{name}"))
        assert task.cell_type == "markdown" and task.metadata["nbgrader"]["locked"]
        assert answer.metadata["nbgrader"]["solution"] and not answer.metadata["nbgrader"]["locked"]
        assert check.source == f'check("{name}")' and check.metadata["nbgrader"]["points"] == points
    graded = [name for name, cell in cells.items() if cell.metadata["nbgrader"]["grade"]]
    assert graded == [f"check-{name}" for name in POINTS]


def test_each_task_names_its_minutes_and_its_chapter(source: Source, notebook: Any) -> None:
    cells = {cell.metadata["nbgrader"]["grade_id"]: cell for cell in notebook.cells}
    for exercise in source.assignment.exercises:
        text = cells[f"about-{exercise.name}"].source
        assert f"About {exercise.minutes} minutes" in text
        assert source.assignment.chapters[exercise.chapter] in text
        assert "{{" not in text


def test_the_first_cell_gives_the_promised_names(source: Source, notebook: Any) -> None:
    imports = next(cell for cell in notebook.cells if cell.metadata["nbgrader"]["grade_id"] == "imports").source
    assert imports.replace("\nfrom autograder import check", "").split() == source.assignment.namespace.split()


def test_chapters_are_named_as_the_book_names_them(source: Source) -> None:
    for slug, title in source.assignment.chapters.items():
        page = ROOT / "book" / f"{slug}.md"
        assert f"\n# {title}\n" in "\n" + page.read_text(encoding="utf-8"), slug


# -- the rules --------------------------------------------------------------------------------------------------------


def test_the_rules_are_sentences_for_a_learner(grader: Grader) -> None:
    for rule in grader.rules:
        assert rule.sentence.endswith(".") and "\n" not in rule.sentence and len(rule.sentence) <= 160, rule.name
        assert rule.stage.hint.endswith((".", "?", ")")), rule.name
    names = Counter((rule.exercise, rule.name) for rule in grader.rules)
    assert set(names.values()) == {1}


def test_the_points_of_the_rules_sum_to_those_of_the_exercises(grader: Grader) -> None:
    sums: Counter[str] = Counter()
    for rule in grader.rules:
        sums[rule.exercise] += rule.stage.points
    assert sums == POINTS


def test_shape_alone_earns_little(grader: Grader) -> None:
    for name, points in POINTS.items():
        shape = sum(rule.stage.points for rule in grader.rules if (rule.exercise, rule.stage.name) == (name, "shape"))
        assert shape <= points / 5, name


def test_every_function_has_rules_of_its_own_that_start_with_shape_or_values(source: Source, grader: Grader) -> None:
    for exercise in source.assignment.exercises:
        for function in exercise.functions:
            stages = [rule.stage.name for rule in grader.rules if (rule.exercise, rule.of) == (exercise.name, function)]
            assert stages and min(stages, key=STAGES.index) in GATING_STAGES[1:], function


def test_the_file_of_rules_stands_in_the_order_of_the_stages(grader: Grader) -> None:
    for name in POINTS:
        of: dict[str, list[int]] = {}
        for rule in grader.rules:
            if rule.exercise == name:
                of.setdefault(rule.of, []).append(STAGES.index(rule.stage.name))
        for function, stages in of.items():
            assert stages == sorted(stages), function


def test_probes_hold_no_verdict(source: Source) -> None:
    tree = ast.parse(source.assignment.probes.read_text(encoding="utf-8"))
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"torch"}


# -- answers that do nothing ------------------------------------------------------------------------------------------

MODULE = """
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        self.attn = torch.{kind}(query.size(0), self.h, query.size(1), key.size(1))
        return {output}
"""

IDLE = {
    "predict": [
        "def predict_shapes(*sizes): return {}\ndef predict_parameters(*sizes): return 0",
        "def predict_shapes(batch, tokens, d_model, h):\n"
        "    three, four = (0, 0, 0), (0, 0, 0, 0)\n"
        "    shapes = dict(viewed=four, heads=four, scores=four, context=four)\n"
        "    return dict(shapes, projected=three, merged=three, output=three)\n"
        "def predict_parameters(d_model, h): return d_model",
    ],
    "attention": [
        "def attention(query, key, value, mask=None, dropout=None):\n"
        "    weights = torch.zeros(*query.shape[:-1], key.size(-2))\n"
        "    return weights @ value, weights",
        "def attention(query, key, value, mask=None, dropout=None): return query, key",
        "def attention(query, key, value, mask=None, dropout=None): return value, query",
    ],
    "clones": ["def clones(module, N): return module", "def clones(module, N): return nn.ModuleList()"],
    "split_heads": [
        "def split_heads(x, h): return x",
        "def split_heads(x, h): return torch.zeros(x.size(0), h, x.size(1), x.size(2) // h)",
    ],
    "masks": [
        "def padding_mask(tokens, pad): return tokens\n"
        "def causal_mask(size, device=None): return torch.zeros(1, size, size)\n"
        "def share_across_heads(mask): return mask",
        "def padding_mask(tokens, pad): return torch.ones(tokens.size(0), 1, tokens.size(1), dtype=torch.bool)\n"
        "def causal_mask(size, device=None): return torch.ones(1, size, size, dtype=torch.bool, device=device)\n"
        "def share_across_heads(mask): return torch.ones_like(mask).unsqueeze(1)",
    ],
    "merge_heads": [
        "def merge_heads(x): return x",
        "def merge_heads(x): return torch.zeros(x.size(0), x.size(2), x.size(1) * x.size(3))",
    ],
    "mix_heads": [
        "def mix_heads(heads, weight, bias): return heads, heads",
        "def mix_heads(heads, weight, bias):\n"
        "    parts = torch.zeros(*heads.shape[:3], weight.size(0))\n"
        "    return parts, parts.sum(1) + bias",
    ],
    "MultiHeadedAttention": [
        MODULE.format(kind="zeros", output="torch.zeros_like(query)"),
        MODULE.format(kind="ones", output="query"),
        MODULE.format(kind="randn", output="query"),
    ],
    "load_torch_weights": ["def load_torch_weights(mha, torch_mha): return mha"],
    "silence_head": [
        "def silence_head(mha, head): return mha",
        "def silence_head(mha, head):\n    mha.linears[3].weight.data.zero_()\n    mha.linears[3].bias.data.zero_()",
    ],
}


@pytest.mark.parametrize(
    ("exercise", "code"),
    [pytest.param(name, code, id=f"{name}-{i}") for name, codes in IDLE.items() for i, code in enumerate(codes)],
)
def test_zeros_and_the_input_handed_back_earn_nothing(grader: Grader, source: Source, exercise: str, code: str) -> None:
    result = grader.judge_exercise_alone(solved.with_answer(grader.reference, exercise, code), exercise)
    assert result.score == 0, [check.name for check in result.checks if check.status == "passed" and check.points]


# -- stand-ins --------------------------------------------------------------------------------------------------------


def broken(grader: Grader, *exercises: str) -> list[Any]:
    """The solved notebook with the answers of these exercises deleted."""
    cells = list(grader.reference)
    for exercise in exercises:
        cells = solved.with_answer(cells, exercise, "pass")
    return cells


@pytest.mark.parametrize(
    ("missing", "dependents"),
    [
        (["attention"], ["MultiHeadedAttention", "load_torch_weights", "silence_head"]),
        (["clones"], ["MultiHeadedAttention", "load_torch_weights", "silence_head"]),
        (["attention", "clones"], ["MultiHeadedAttention", "load_torch_weights", "silence_head"]),
        (["MultiHeadedAttention"], ["load_torch_weights", "silence_head"]),
    ],
)
def test_stand_ins_give_full_marks_to_what_needs_them(
    grader: Grader, missing: Sequence[str], dependents: Sequence[str]
) -> None:
    results = {result.name: result for result in grader.judge(broken(grader, *missing))}
    for name, result in results.items():
        if name in missing:
            assert result.score == 0
        else:
            lost = [f"{check.name}: {check.message}" for check in result.checks if check.status != "passed"]
            assert result.score == result.max_score, (name, lost)
            assert result.judged_with == ("stand-ins" if name in dependents else "own"), name


MODULE_THAT_CALLS = """
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k, self.attn = h, d_model // h, None
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = share_across_heads(mask)
        q, k, v = (split_heads(linear(x), self.h) for linear, x in zip(self.linears, (query, key, value)))
        x, self.attn = attention(q, k, v, mask, self.dropout)
        return self.linears[-1](merge_heads(x))
"""


@pytest.mark.parametrize(
    "missing", [["merge_heads"], ["split_heads"], ["masks"], ["attention", "masks", "merge_heads"]]
)
def test_a_module_that_calls_a_broken_function_from_above_does_not_pay_for_it(
    grader: Grader, missing: Sequence[str]
) -> None:
    cells = [
        replace(cell, source=MODULE_THAT_CALLS) if cell.grade_id == "MultiHeadedAttention" else cell
        for cell in broken(grader, *missing)
    ]
    results = {result.name: result for result in grader.judge(cells)}
    for name, result in results.items():
        assert result.score == (0 if name in missing else result.max_score), name
    assert results["MultiHeadedAttention"].judged_with == "stand-ins"


def pairs_of_right_answers(source: Source, count: int, seed: int) -> list[tuple[Variant, Variant]]:
    """Unusual right answers to two different exercises of those that the module needs or may call, and itself."""
    rng = random.Random(seed)
    parts = ["MultiHeadedAttention", *source.assignment.calls_of("MultiHeadedAttention")]
    drawn = []
    for _ in range(count):
        one, other = rng.sample(parts, 2)
        drawn.append(
            (
                rng.choice([variant for variant in source.right if variant.exercise == one]),
                rng.choice([variant for variant in source.right if variant.exercise == other]),
            )
        )
    return drawn


def judge_pairs(source: Source, grader: Grader, count: int, seed: int) -> None:
    print(f"pairs of right answers with seed {seed}")
    for pair in pairs_of_right_answers(source, count, seed):
        print(" with ".join(variant.path for variant in pair))
        answers = {"MultiHeadedAttention": MODULE_THAT_CALLS, **{variant.exercise: variant.code for variant in pair}}
        cells = list(grader.reference)
        for exercise, code in answers.items():
            cells = solved.with_answer(cells, exercise, code)
        results = grader.judge(cells)
        lost = [f"{r.name}/{c.name}: {c.message}" for r in results for c in r.checks if c.status != "passed"]
        assert total(results) == 100 and not lost, lost
        assert {result.judged_with for result in results} == {"own"}


def test_random_pairs_of_right_parts_get_full_marks(source: Source, grader: Grader) -> None:
    judge_pairs(source, grader, 6, seed=random.SystemRandom().randrange(2**31))


@pytest.mark.long
def test_many_random_pairs_of_right_parts_get_full_marks(source: Source, grader: Grader) -> None:
    judge_pairs(source, grader, 150, seed=random.SystemRandom().randrange(2**31))


# -- the banks --------------------------------------------------------------------------------------------------------


def test_the_banks_are_as_large_as_promised(source: Source) -> None:
    wrong = Counter(variant.exercise for variant in source.wrong)
    right = Counter(variant.exercise for variant in source.right)
    assert sum(wrong.values()) >= 75 and min(wrong[name] for name in POINTS) >= 6
    assert sum(right.values()) >= 35 and min(right[name] for name in POINTS) >= 2


def test_every_answer_of_the_banks_defines_its_functions(source: Source) -> None:
    for variant in (*source.wrong, *source.right):
        defined = {
            node.name for node in ast.parse(variant.code).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        assert set(source.assignment.by_name[variant.exercise].functions) <= defined, variant.path


def test_every_misconception_is_shown_by_an_answer_and_told_in_whole_sentences(source: Source) -> None:
    assert {variant.misconception for variant in source.wrong} == set(source.misconceptions)
    for name, misconception in source.misconceptions.items():
        assert re.fullmatch(r"[a-z0-9_-]+", name)
        assert misconception.says.endswith((".", ":")) and len(misconception.says) <= 220, name
        assert misconception.advice and len(misconception.advice) <= 160, name
        assert misconception.chapter == "" or misconception.chapter in source.assignment.chapters, name


def test_an_answer_about_one_part_is_not_sent_to_the_chapter_of_another(source: Source) -> None:
    parts = {"split_heads", "merge_heads", "mix_heads", "silence_head"}  # each with a chapter on just this
    own = {exercise.chapter for exercise in source.assignment.exercises if exercise.name in parts}
    for variant in source.wrong:
        chapter = source.misconceptions[variant.misconception or ""].chapter
        if variant.exercise in parts and variant.path != "mix_heads/merged_without_transpose":  # it is about merging
            assert chapter not in own - {source.assignment.by_name[variant.exercise].chapter}, variant.path


def test_no_two_answers_of_a_bank_are_the_same_text(source: Source) -> None:
    bodies = Counter(re.sub(r"(?m)^#.*\n", "", variant.code) for variant in (*source.wrong, *source.right))
    assert [body for body, count in bodies.items() if count > 1] == []


@pytest.mark.long
def test_every_rule_is_failed_by_an_answer_that_people_write(source: Source, grader: Grader) -> None:
    failed: set[tuple[str, str]] = set()
    for variant in source.wrong:
        result = grader.judge_exercise_alone(grader.cells_with(variant), variant.exercise)
        failed |= {(variant.exercise, check.name) for check in result.checks if check.status == "failed"}
    rules = {(rule.exercise, rule.name) for rule in grader.rules if not rule.stage.report}
    assert rules - failed == set()

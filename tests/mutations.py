"""Single changes to the reference: which of them does no check notice?

    python tests/mutations.py [EXERCISE ...] [--seed N] [--every N]

Each mutant is the solved notebook with one change in one exercise: an operator, a constant, an axis, an argument, a
line left out, two arguments that change places. It is graded like a submission. A mutant that keeps full marks
survives. Survivors that compute the same as the reference stand in `equivalent_mutations.toml`, each with the reason;
any other shows what the checks do not hold answers to.
"""

from __future__ import annotations

import argparse
import ast
import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import solved
from autograder.course import Course, Source, read_toml
from autograder.grading.submission import Grader

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutations.toml")

OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
}
MODULES = ("torch", "nn", "copy", "math", "F")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


Change = Callable[[Any], Any]  # from a node of a copied tree to what took its place; None: it is left out


@dataclass(frozen=True)
class Mutant:
    """A changed answer. what: the change in words, which also names it in the list of equivalent ones."""

    exercise: str
    what: str
    code: str


def mutants(exercise: str, code: str) -> Iterator[Mutant]:
    """Every single change of an answer that this file knows, each once."""
    tree = ast.parse(code)
    nodes = list(ast.walk(tree))
    seen = {ast.unparse(tree)}
    for position in range(len(nodes)):
        for changed, node in _changes(tree, position):
            text = ast.unparse(changed)
            if text not in seen:
                seen.add(text)
                yield Mutant(exercise, f"{_short(nodes[position])} -> {_short(node)}", text)


def _short(node: ast.AST | None) -> str:
    return "(left out)" if node is None else " ".join(ast.unparse(node).split())[:120]


def _changes(tree: ast.Module, position: int) -> Iterator[tuple[ast.Module, ast.AST | None]]:
    original = list(ast.walk(tree))[position]
    for change in _variants(original):
        other = copy.deepcopy(tree)
        target = list(ast.walk(other))[position]
        replacement = change(target)
        if replacement is None:
            for parent in ast.walk(other):
                for name in ("body", "orelse"):
                    lines = getattr(parent, name, None)
                    if isinstance(lines, list) and target in lines:
                        lines[lines.index(target)] = ast.copy_location(ast.Pass(), target)
        yield ast.fix_missing_locations(other), replacement


def _variants(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            yield _set("op", operator())
        yield _swap("left", "right")
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield _set("ops", [COMPARISONS[type(node.ops[0])]()])
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield _set("value", node.value + 1)
        yield _set("value", node.value - 1)
    elif isinstance(node, ast.Constant) and node.value == "-inf":
        yield _set("value", "inf")
        yield _set("value", "-20")
    elif isinstance(node, ast.Call):
        for i in range(len(node.args) - 1):
            yield _exchange(i)
        for i in range(len(node.args)):
            yield _drop("args", i)
        for i in range(len(node.keywords)):
            yield _drop("keywords", i)
        if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in MODULES:
            yield _unwrap
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for i in range(len(node.elts) - 1):
            yield _exchange(i)
    elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.Assert, ast.If)) and not _is_docstring(node):
        yield lambda target: None


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _set(name: str, value: object) -> Change:
    def change(node: Any) -> Any:
        setattr(node, name, value)
        return node

    return change


def _swap(one: str, other: str) -> Change:
    def change(node: Any) -> Any:
        first, second = getattr(node, one), getattr(node, other)
        setattr(node, one, second)
        setattr(node, other, first)
        return node

    return change


def _exchange(i: int) -> Change:
    def change(node: Any) -> Any:
        items = node.args if isinstance(node, ast.Call) else node.elts
        items[i], items[i + 1] = items[i + 1], items[i]
        return node

    return change


def _drop(name: str, i: int) -> Change:
    def change(node: Any) -> Any:
        del getattr(node, name)[i]
        return node

    return change


def _unwrap(node: Any) -> Any:
    """x.method(...) → x."""
    inner = node.func.value
    node.__class__ = inner.__class__
    node.__dict__.clear()
    node.__dict__.update(inner.__dict__)
    return node


def equivalent() -> dict[str, dict[str, str]]:
    """The reason why a survivor computes the same as the reference, by exercise and change."""
    return read_toml(EQUIVALENT)


def survivors(
    grader: Grader, source: Source, exercises: Sequence[str] = (), every: int = 1
) -> tuple[int, list[Mutant]]:
    """How many mutants were tried, and those that keep full marks and are not known to be equivalent."""
    known = equivalent()
    tried = 0
    alive = []
    for cell in grader.reference:
        if cell.grade_id not in source.assignment.by_name or (exercises and cell.grade_id not in exercises):
            continue
        for position, mutant in enumerate(mutants(cell.grade_id, cell.source)):
            if position % every or mutant.what in known.get(mutant.exercise, {}):
                continue
            tried += 1
            cells = solved.with_answer(list(grader.reference), mutant.exercise, mutant.code)
            result = grader.judge_exercise_alone(cells, mutant.exercise)
            if result.score >= result.max_score:
                alive.append(mutant)
    return tried, alive


def main() -> int:
    """List the survivors. Exit code 1 where there are any."""
    parser = argparse.ArgumentParser(description="Which single change to the reference does no check notice?")
    parser.add_argument("exercises", nargs="*", metavar="EXERCISE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try every Nth mutant only")
    options = parser.parse_args()
    source = Course(ROOT).source("multi_head_attention")
    with Grader.open(source, seed=options.seed) as grader:
        tried, alive = survivors(grader, source, options.exercises, options.every)
    for mutant in alive:
        print(f"{mutant.exercise}: {mutant.what}")
    print(f"{tried} mutants tried, {len(alive)} survive and are not known to be equivalent.")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())

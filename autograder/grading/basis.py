"""What each exercise's verdict rests on, as digests: where they are as before, an earlier verdict still stands.

A result keeps them per exercise. So a run that goes on in the folder of an earlier one judges again only what a change
of the checks, the reference, the settings or the program can have moved, and can say why.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import torch

from autograder import notebooks, solved
from autograder.course import Assignment, Source
from autograder.language import _
from autograder.results import ExerciseResult, Move, SubmissionResult

CHECKS, REFERENCE, STAND_INS, SETTINGS, EXPLANATIONS, PROGRAM = PARTS = (
    "checks", "reference", "stand-ins", "settings", "explanations", "program",
)  # fmt: skip


def bases(source: Source) -> dict[str, dict[str, str]]:
    """By exercise, a short digest of each thing that its verdict rests on, by the names in `PARTS`.

    Code counts as Python reads it: a comment or a line break changes nothing. Of the modules beside the checks, and of
    the probes, only what an exercise's checks use counts.
    """
    assignment = source.assignment
    checks = _Definitions.of(assignment.checks)
    reference = solved.read_solved(source).cells
    program = _program()
    found = {}
    for exercise in assignment.exercises:
        called = assignment.calls_of(exercise.name)
        answers = [
            notebooks.without_layout(cell.source)
            for cell in reference
            if {exercise.name, *called} & set(cell.exercises)
            or not (cell.exercises or notebooks.only_checks(cell.source))
        ]
        found[exercise.name] = {
            CHECKS: _digest(checks.used_by(assignment.checks / f"test_{exercise.name}.py")),
            REFERENCE: _digest(answers),
            STAND_INS: _digest([notebooks.without_layout(source.stand_ins)] if called else []),
            SETTINGS: _digest(_settings(assignment, exercise.name)),
            EXPLANATIONS: _digest(_explanations(source, exercise.name)),
            PROGRAM: program,
        }
    return found


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What is no longer as it was, as sentences."""
    words = {
        CHECKS: _("Its checks were changed."),
        REFERENCE: _("The reference was changed."),
        STAND_INS: _("The stand-ins were changed."),
        SETTINGS: _("The assignment's settings were changed."),
        EXPLANATIONS: _("The known wrong answers or their words were changed."),
        PROGRAM: _("The autograder, Python or PyTorch is another one."),
    }
    return [words[part] for part in PARTS if before.get(part) != now[part]]


def moves(
    before: SubmissionResult, after: SubmissionResult, now: Mapping[str, Mapping[str, str]], assignment: Assignment
) -> list[Move]:
    """The exercises whose scores differ between two results of one student, and why."""
    if (before.status, after.status) != ("graded", "graded"):
        return []
    earlier = {result.name: result for result in before.exercises}
    later = {result.name: result.score for result in after.exercises}
    if before.sha256 != after.sha256:
        why = {name: [_("Another notebook was handed in.")] for name in later}
    else:
        why = stale_exercises(earlier, now, assignment)
    why.update({name: [_("It is left out now.")] for name in earlier if name not in later})
    found = [
        Move(name, earlier[name].score if name in earlier else 0.0, later.get(name, 0.0), tuple(why.get(name, ())))
        for name in dict.fromkeys([*later, *earlier])
    ]
    return [move for move in found if move.before != move.after]


def stale_exercises(
    earlier: Mapping[str, ExerciseResult], now: Mapping[str, Mapping[str, str]], assignment: Assignment
) -> dict[str, list[str]]:
    """Exercises whose earlier results no longer hold, and why, as sentences: what they rest on has changed, or what
    another rests on whose answer they may call."""
    changed = {
        name: changes(earlier[name].judged_by, now[name]) if name in earlier else [_("It is new.")]
        for name in assignment.by_name
    }
    stale = {}
    for name in assignment.by_name:
        others = [other for other in assignment.calls_of(name) if changed[other]]
        if changed[name] or others:
            words = [_("{name}, which it may call, is judged anew.").format(name=other) for other in others]
            stale[name] = changed[name] or words
    return stale


class _Definitions:
    """What the modules beside the checks define at their top level, by name."""

    def __init__(self, named: Mapping[str, list[ast.stmt]], always: Sequence[ast.stmt]) -> None:
        self._named, self._always = named, always

    @classmethod
    def of(cls, folder: Path) -> _Definitions:
        named: dict[str, list[ast.stmt]] = {}
        always: list[ast.stmt] = []
        for path in sorted(folder.glob("*.py")):
            if path.name.startswith("test_"):
                continue
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                names = _defines(node)
                for name in names:
                    named.setdefault(name, []).append(node)
                if not names:
                    always.append(node)  # imports, and what runs when the module is loaded
        return cls(named, always)

    def used_by(self, path: Path) -> list[str]:
        """The file's code, and the definitions that it names or that those name: probes are named by strings."""
        tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
        used: dict[str, list[str]] = {}
        waiting = [*_mentions([tree]), *_mentions(self._always)]
        while waiting:
            name = waiting.pop()
            if name in self._named and name not in used:
                used[name] = [ast.unparse(node) for node in self._named[name]]
                waiting.extend(_mentions(self._named[name]))
        always = [ast.unparse(node) for node in self._always]
        return [ast.unparse(tree), *always, *(text for name in sorted(used) for text in used[name])]


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def _mentions(nodes: Iterable[ast.AST]) -> list[str]:
    found = []
    for node in (part for whole in nodes for part in ast.walk(whole)):
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Attribute):
            found.append(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
        elif isinstance(node, ast.alias):
            found.append(node.name)
    return found


def _settings(assignment: Assignment, name: str) -> list[str]:
    exercise, choices = assignment.by_name[name], assignment.choices
    own = {
        "points": exercise.points,
        "functions": exercise.functions,
        "needs": exercise.needs,
        "calls": assignment.calls_of(name),
        "namespace": assignment.namespace,
        "off limits": [assignment.off_limits, choices.off_limits_cost],
        "not counted": [check for check in choices.not_counted if check.startswith(f"{name}/")],
        "limits": dict(choices.limits),
    }
    return [json.dumps(own, sort_keys=True)]


def _explanations(source: Source, name: str) -> list[str]:
    assignment = source.assignment
    exercise = assignment.by_name[name]
    words = [exercise.title, exercise.chapter, assignment.book, json.dumps(dict(assignment.chapters))]
    for variant in source.wrong:
        if variant.exercise == name and variant.misconception:
            known = source.misconceptions[variant.misconception]
            words += [variant.name, notebooks.without_layout(variant.code), known.name, known.says, known.advice]
            words.append(known.chapter)
    return words


@lru_cache(maxsize=1)
def _program() -> str:
    """This package, and the Python and PyTorch that it runs on."""
    package = Path(__file__).resolve().parents[1]
    files = sorted(path for path in package.rglob("*") if path.suffix in (".py", ".html", ".css", ".js"))
    texts = [path.read_text(encoding="utf-8") for path in files]
    return _digest([".".join(map(str, sys.version_info[:2])), torch.__version__, *texts])


def _digest(texts: Sequence[str]) -> str:
    whole = hashlib.blake2b(digest_size=6)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        whole.update(f"{len(data)}:".encode() + data)
    return whole.hexdigest()

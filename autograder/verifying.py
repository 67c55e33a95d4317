"""Proves the course: the reference gets full marks, the stubs none, each wrong answer is refused and named."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from autograder import leaks, release, solved
from autograder.checking import CheckBroken
from autograder.course import Course, Source, Variant
from autograder.grading.submission import Grader
from autograder.results import ExerciseResult, total


@dataclass
class Verdict:
    """What was proven, in numbers, and what was not, in sentences."""

    proven: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Nothing is broken."""
        return not self.broken


def verify(
    course: Course, name: str | None, seeds: Sequence[int], tell: Callable[[str], None], unsandboxed: bool = False
) -> Verdict:
    """Prove an assignment on each seed. `tell` hears what is being tried."""
    source = course.source(name)
    verdict = Verdict()
    _points(source, verdict)
    _stand_ins(source, verdict)
    for seed in seeds:
        tell(f"Seed {seed}")
        with Grader.open(source, seed=seed, unsandboxed=unsandboxed) as grader:
            _reference_and_stubs(source, grader, verdict, seed)
            _wrong(source, grader, verdict, seed)
            _right(source, grader, verdict, seed)
    _leaks(course, source, verdict)
    return verdict


def _points(source: Source, verdict: Verdict) -> None:
    notebook = solved.solved_notebook(source)
    in_notebook = {
        cell.metadata["nbgrader"]["grade_id"].removeprefix("check-"): float(cell.metadata["nbgrader"]["points"])
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    for exercise in source.assignment.exercises:
        if in_notebook.get(exercise.name) != exercise.points:
            verdict.broken.append(
                f"{exercise.name} is worth {exercise.points:g} in assignment.toml, "
                f"{in_notebook.get(exercise.name)} in its check cell."
            )


def _stand_ins(source: Source, verdict: Verdict) -> None:
    """Learners are told that a piece which loses points costs no other exercise: so each has a stand-in."""
    pieces = ast.parse(source.stand_ins).body
    defined = {piece.name for piece in pieces if isinstance(piece, (ast.FunctionDef, ast.ClassDef))}
    for exercise in source.assignment.exercises:
        for need in source.assignment.needs_of(exercise.name):
            lacking = [name for name in source.assignment.by_name[need].functions if name not in defined]
            if lacking:
                verdict.broken.append(f"{exercise.name} needs {', '.join(lacking)}, which standins.py lacks.")


def _reference_and_stubs(source: Source, grader: Grader, verdict: Verdict, seed: int) -> None:
    reference = grader.judge(grader.reference)
    lost = [
        f"{result.name}/{check.name}" for result in reference for check in result.checks if check.status != "passed"
    ]
    if lost:
        verdict.broken.append(f"Seed {seed}: the reference loses {', '.join(lost)}.")
    verdict.proven.append(f"seed {seed}: the reference gets {total(reference):g} of {source.assignment.max_score:g}")
    stubs = grader.judge(release.stub_cells(source))
    if total(stubs) != 0:
        scored = ", ".join(f"{result.name} {result.score:g}" for result in stubs if result.score)
        verdict.broken.append(f"Seed {seed}: the stubs score: {scored}.")
    attempted = [result.name for result in stubs if result.attempted]
    if attempted:
        verdict.broken.append(f"Seed {seed}: untouched, but not reported as such: {', '.join(attempted)}.")
    verdict.proven.append(f"seed {seed}: the stubs get {total(stubs):g}, all reported as not attempted")


def _judged(grader: Grader, variant: Variant, verdict: Verdict, where: str) -> ExerciseResult | None:
    """The verdict on a variant; None, and a sentence, where a check of the course itself is broken."""
    try:
        return grader.judge_exercise_alone(grader.cells_with(variant), variant.exercise)
    except CheckBroken as problem:
        verdict.broken.append(f"{where} cannot be judged. {problem}")
        return None


def _wrong(source: Source, grader: Grader, verdict: Verdict, seed: int) -> None:
    named = 0
    for variant in source.wrong:
        where = f"Seed {seed}: wrong/{variant.path}"
        result = _judged(grader, variant, verdict, where)
        if result is None:
            continue
        failed = [check for check in result.checks if check.status == "failed"]
        names = {check.misconception for check in failed}
        if not any(check.points for check in failed):
            verdict.broken.append(f"{where} fails no check that has points.")
        elif names - {variant.misconception}:
            verdict.broken.append(
                f"{where} should be named {variant.misconception}, but is: {', '.join(sorted(map(str, names)))}."
            )
        else:
            named += 1
    verdict.proven.append(f"seed {seed}: {named} of {len(source.wrong)} wrong answers refused and named")


def _right(source: Source, grader: Grader, verdict: Verdict, seed: int) -> None:
    accepted = 0
    for variant in source.right:
        where = f"Seed {seed}: right/{variant.path}"
        result = _judged(grader, variant, verdict, where)
        if result is None:
            continue
        lost = [f"{check.name} ({check.message})" for check in result.checks if check.status != "passed"]
        if lost:
            verdict.broken.append(f"{where} loses {'; '.join(lost)}.")
        else:
            accepted += 1
    verdict.proven.append(f"seed {seed}: {accepted} of {len(source.right)} unusual right answers accepted")


def _leaks(course: Course, source: Source, verdict: Verdict) -> None:
    found = leaks.find_in_release(course, source)
    verdict.broken.extend(found)
    if not found:
        verdict.proven.append("no answer leaks into what learners get")

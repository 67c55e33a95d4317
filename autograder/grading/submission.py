"""One submission: observed across the trust boundary, judged, and what it says of itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from autograder import collecting, notebooks, recordings, solved
from autograder.checking import Rule
from autograder.course import CourseError, Source, Variant
from autograder.grading.judging import Evidence, judge_exercise
from autograder.language import _
from autograder.notebooks import Cell, Submission, Unreadable
from autograder.observations import Death, Job, Outcome, Problem, Reply, Request
from autograder.recordings import Recording, WrongReplies
from autograder.results import ExerciseResult, SubmissionResult, total
from autograder.sandbox import Sandbox, open_sandbox

RELEASE_SEED = 2017


class Grader:
    """Grades submissions of one assignment with one seed. Use `Grader.open`, or `grading_session` for a class.

    Holds the reference's replies and, as failures ask for them, those of the wrong answers.
    """

    def __init__(self, source: Source, rules: Sequence[Rule], sandbox: Sandbox, seed: int) -> None:
        self.source, self.assignment, self.seed = source, source.assignment, seed
        self.rules, self._sandbox = rules, sandbox
        self.reference = list(solved.read_solved(source).cells)
        self._bank: dict[str, Sequence[WrongReplies]] = {}
        self.recording = recordings.record(rules, seed, self._ask_reference)
        sandbox.give_plan(self.recording.plan)

    @classmethod
    @contextmanager
    def open(cls, source: Source, *, seed: int, unsandboxed: bool = False) -> Iterator[Grader]:
        """A grader with its sandbox. Raises `CourseError`, and `NoIsolation` where this machine offers none."""
        rules = collecting.collect(source.assignment)
        with open_for(source, unsandboxed=unsandboxed) as sandbox:
            yield cls(source, rules, sandbox, seed)

    @property
    def isolation(self) -> Literal["namespaces", "none"]:
        """What stands around a submission."""
        return "namespaces" if self._sandbox.isolation == "namespaces" else "none"

    def _ask_reference(self, requests: Sequence[Request]) -> Sequence[Reply]:
        self._sandbox.give_plan(list(requests))
        outcome = self._sandbox.run(Job([cell.source for cell in self.reference], range(len(requests))))
        for cell, problem in zip(self.reference, outcome.problems, strict=True):
            if problem is not None:
                raise CourseError(f"The solved notebook raises {problem.kind} in `{cell.grade_id}`: {problem.message}")
        if outcome.death is not None:
            raise CourseError(f"The solved notebook ended its process: {outcome.death.reason} {outcome.death.detail}.")
        return [outcome.replies[i] for i in range(len(requests))]

    # -- the banks ----------------------------------------------------------------------------------------------

    def cells_with(self, variant: Variant) -> list[Cell]:
        """The solved notebook's cells with one answer replaced by one from the banks."""
        return solved.with_answer(self.reference, variant.exercise, variant.code)

    def wrong_replies(self, exercise: str) -> Sequence[WrongReplies]:
        """What each wrong answer of an exercise replies, observed once."""
        if exercise not in self._bank:
            found = []
            for variant in self.source.wrong:
                if variant.exercise != exercise or variant.misconception is None:
                    continue
                evidence = self._observe(self.cells_with(variant), self.recording.positions([exercise]))
                replies = {
                    name: [reply for reply in got if reply is not None]
                    for name, got in evidence.replies.items()
                    if name.startswith(f"{exercise}/")
                }
                found.append(WrongReplies(self.source.misconceptions[variant.misconception], variant.name, replies))
            self._bank[exercise] = found
        return self._bank[exercise]

    def full_recording(self) -> Recording:
        """The recording with the replies of every wrong answer, as release writes it."""
        return replace(
            self.recording,
            wrong={exercise.name: self.wrong_replies(exercise.name) for exercise in self.assignment.exercises},
        )

    # -- one submission -----------------------------------------------------------------------------------------

    def grade(self, student: str, path: Path) -> SubmissionResult:
        """Grade a notebook file. Never raises for what stands in it: that ends as `ungradable`."""
        try:
            data = notebooks.read_file(path)
        except Unreadable as problem:
            return self.ungradable(student, str(problem))
        return self.grade_bytes(student, data)

    def grade_bytes(self, student: str, data: bytes) -> SubmissionResult:
        """Grade a notebook's bytes."""
        started = time.monotonic()
        try:
            submission = notebooks.read(data, self.assignment)
        except Unreadable as problem:
            return self.ungradable(student, str(problem))
        exercises = self.judge(submission.cells)
        return SubmissionResult(
            student=student,
            assignment=self.assignment.name,
            status="graded",
            score=total(exercises),
            max_score=self.assignment.max_score,
            exercises=tuple(exercises),
            flags=tuple(self._flags(submission)),
            isolation=self.isolation,
            layers=dict(self._sandbox.layers),
            seed=self.seed,
            seconds=round(time.monotonic() - started, 3),
            sha256=submission.sha256,
        )

    def ungradable(self, student: str, reason: str) -> SubmissionResult:
        """The result of a submission that cannot be graded, with the reason in one sentence."""
        return SubmissionResult(
            student=student,
            assignment=self.assignment.name,
            status="ungradable",
            reason=reason,
            max_score=self.assignment.max_score,
            isolation=self.isolation,
            layers=dict(self._sandbox.layers),
            seed=self.seed,
        )

    def judge(self, cells: Sequence[Cell]) -> list[ExerciseResult]:
        """Every exercise, judged by itself and, where a piece it needs lost points, with stand-ins as well."""
        evidence = self._observe(cells, self.recording.positions())
        own = {exercise.name: self._judge(exercise.name, evidence) for exercise in self.assignment.exercises}
        broken = {name for name, result in own.items() if result.score < result.max_score}
        results = dict(own)
        for name, result in own.items():
            needs = [need for need in self.assignment.needs_of(name) if need in broken]
            if not needs or result.score >= result.max_score or not self.source.stand_ins or not result.attempted:
                continue
            evidence = self._observe(cells, self.recording.positions([name]), replaced=needs)
            helped = self._judge(name, evidence)
            if helped.score > result.score:
                results[name] = replace(helped, judged_with="stand-ins")
        return list(results.values())

    def judge_exercise_alone(self, cells: Sequence[Cell], exercise: str) -> ExerciseResult:
        """One exercise of a notebook whose other answers are known to be sound."""
        return self._judge(exercise, self._observe(cells, self.recording.positions([exercise])))

    def _judge(self, name: str, evidence: Evidence) -> ExerciseResult:
        return judge_exercise(self.assignment.by_name[name], self.rules, self.recording, evidence, self.wrong_replies)

    def _flags(self, submission: Submission) -> list[str]:
        return [
            _("{exercise} calls {name}, which is off limits.").format(exercise=exercise, name=name)
            for exercise, name in notebooks.off_limits_calls(submission.cells, self.assignment.off_limits)
        ]

    # -- across the boundary ------------------------------------------------------------------------------------

    def _observe(self, cells: Sequence[Cell], positions: Sequence[int], replaced: Sequence[str] = ()) -> Evidence:
        """Run cells and requests in a child. A culprit is found and left out, and the rest is run again without it."""
        stand_ins = self._stand_ins(replaced) if replaced else ""
        plan = self.recording.plan
        left_out = {i for i, cell in enumerate(cells) if cell.exercises and set(cell.exercises) <= set(replaced)}
        deaths: dict[str, Death] = {}
        died_at: dict[str, int] = {}
        replies: Mapping[int, Reply] = {}
        careful = False
        while True:
            kept = [i for i in range(len(cells)) if i not in left_out]
            asked = [i for i in positions if plan[i].exercise not in deaths]
            outcome = self._sandbox.run(Job([cells[i].source for i in kept], asked, stand_ins, careful))
            death = outcome.death
            replies = outcome.replies
            if death is None:
                break
            if not careful:
                careful = True
                continue
            if death.step is None:
                for name in self.assignment.by_name:
                    deaths.setdefault(name, death)
                break
            kind, position = death.step
            if kind == "request":
                deaths[plan[position].exercise] = death
                died_at[plan[position].exercise] = position
            else:
                culprit = kept[position]
                owners = cells[culprit].exercises
                left_out.add(culprit)
                for name in owners:
                    deaths[name] = death
                left_out.update(i for i, cell in enumerate(cells) if set(cell.exercises) & set(owners))
        return self._evidence(cells, kept, outcome, replies, deaths, died_at)

    def _evidence(
        self,
        cells: Sequence[Cell],
        kept: Sequence[int],
        outcome: Outcome,
        replies: Mapping[int, Reply],
        deaths: Mapping[str, Death],
        died_at: Mapping[str, int],
    ) -> Evidence:
        problems: dict[str, Problem] = {}
        for i, problem in zip(kept, outcome.problems, strict=False):
            if problem is not None:
                for exercise in cells[i].exercises:
                    problems[exercise] = problem
        keys = [name for name, take in self.recording.takes.items() for _request in take.requests]
        return Evidence(
            replies=self.recording.by_check(replies),
            defined=outcome.defined,
            problems=problems,
            deaths=deaths,
            died_at={exercise: keys[position] for exercise, position in died_at.items()},
        )

    def _stand_ins(self, exercises: Sequence[str]) -> str:
        """Library-built pieces for the functions of these exercises, and for no others."""
        functions = [name for exercise in exercises for name in self.assignment.by_name[exercise].functions]
        source = self.source.stand_ins
        return (
            f"def _stand_ins(wanted):\n    own = dict(globals())\n    exec({source!r}, own)\n"
            f"    globals().update({{name: own[name] for name in wanted}})\n_stand_ins({functions!r})\ndel _stand_ins\n"
        )


@contextmanager
def open_for(source: Source, *, unsandboxed: bool) -> Iterator[Sandbox]:
    """The sandbox for an assignment's probes and namespace."""
    with open_sandbox(
        source.assignment.probes, unsandboxed=unsandboxed, namespace_code=source.assignment.namespace
    ) as sandbox:
        yield sandbox


def grading_session(source: Source, *, seed: int, unsandboxed: bool, body: Callable[[Grader], None]) -> None:
    """One pytest session, one sandbox, one grader: `body` holds the loop over submissions."""

    def run(rules: Sequence[Rule]) -> None:
        with open_for(source, unsandboxed=unsandboxed) as sandbox:
            body(Grader(source, rules, sandbox, seed))

    collecting.in_session(source.assignment, run)


def record_release(source: Source, seed: int = RELEASE_SEED) -> Recording:
    """The recording that the learners' copy replays. The course's own code may run unisolated where nothing else is."""
    from autograder.sandbox import NoIsolation

    try:
        with Grader.open(source, seed=seed) as grader:
            return grader.full_recording()
    except NoIsolation:
        with Grader.open(source, seed=seed, unsandboxed=True) as grader:
            return grader.full_recording()

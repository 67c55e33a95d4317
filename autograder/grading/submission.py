"""One submission: observed across the trust boundary, judged, and what it says of itself."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch

from autograder import collecting, notebooks, recordings, solved
from autograder.checking import Rule
from autograder.course import SETTINGS, CourseError, Source, Variant
from autograder.grading.basis import bases, stale_exercises
from autograder.grading.judging import Evidence, judge_exercise, near_names, without_points
from autograder.grading.sharing import Shared
from autograder.grading.standing_in import source_for
from autograder.language import _
from autograder.notebooks import Cell, Submission, Unreadable
from autograder.observations import Death, Job, Limits, Outcome, Problem, Reply, Request
from autograder.probes import COURSE, BadProbes, load_probes
from autograder.recordings import Recording, WrongReplies
from autograder.results import ExerciseResult, SubmissionResult, total
from autograder.routes import gather, trace_request
from autograder.sandbox import NoIsolation, Sandbox, SandboxError, StandInsFailed, open_sandbox

RELEASE_SEED = 2017


MOST_FATAL_CELLS = 16  # cells that end the process, after which those outside the exercises are all left out
MOST_KEPT = 2048  # verdicts on one exercise, each some ten thousand bytes
PATIENCE = 4  # deaths by time in one submission, after which what is left of it gets less time


LONGEST_QUOTE = 120  # characters of a learner's message in a flag
# What a refused call looks like from inside, also where a library wraps it, as urllib does.
REFUSED = re.compile(r"\[Errno (?:1|13)\]|Operation not permitted|Permission denied")


class Conduct:
    """How one submission behaves: what ended its processes, what it was refused, and how much time it has wasted.

    It counts what does not depend on how busy the machine is. endings, refused: by exercise, "" for no exercise.
    """

    def __init__(self) -> None:
        self._wasted = 0
        self.endings: dict[str, str] = {}
        self.refused: dict[str, str] = {}

    @property
    def brief(self) -> bool:
        """Whether the next run gets less time, so that all loops of a submission together end soon."""
        return self._wasted >= PATIENCE

    def strain(self, death: Death) -> None:
        """Hears of a death."""
        if death.reason == "time" and death.sure:
            self._wasted += 1

    def ended(self, exercises: Sequence[str], death: Death) -> None:
        """Hears who is to blame for a death."""
        how = {
            "time": _("its time was up"),
            "memory": _("it took more memory than there is"),
            "reply": _("it sent what cannot be read"),
        }.get(death.reason, death.detail)
        for name in exercises or ("",):
            self.endings.setdefault(name, how)

    def met(self, exercises: Sequence[str], problem: Problem | None) -> None:
        """Hears of an exception in a cell or an answer."""
        if problem is not None and (problem.kind == "PermissionError" or REFUSED.search(problem.message)):
            for name in exercises or ("",):
                self.refused.setdefault(name, f"{problem.kind}: {problem.message[:LONGEST_QUOTE]}")


class Grader:
    """Grades submissions of one assignment with one seed. Use `Grader.open`, or `grading_session` for a class.

    Holds the reference's replies and, as failures ask for them, those of the wrong answers. shared: a folder in which
    the graders of one run, of one source and seed, find what another of them has observed.
    """

    def __init__(
        self, source: Source, rules: Sequence[Rule], sandbox: Sandbox, seed: int, shared: Path | None = None
    ) -> None:
        self.source, self.assignment, self.seed = source, source.assignment, seed
        self._shared = Shared(shared)
        self.rules, self._sandbox = rules, sandbox
        self.reference = list(solved.read_solved(source).cells)
        self._bank: dict[str, Sequence[WrongReplies]] = {}
        self._verdicts: dict[Hashable, ExerciseResult] = {}
        self.bases = bases(source)
        self.recording = recordings.record(rules, seed, self._ask_reference, _names_of_probes(source.assignment.probes))
        sandbox.give_plan(self.recording.plan)

    @classmethod
    @contextmanager
    def open(
        cls, source: Source, *, seed: int, unsandboxed: bool = False, shared: Path | None = None
    ) -> Iterator[Grader]:
        """A grader with its sandbox. shared: see `Shared`.

        Raises `CourseError`, and `NoIsolation` where this machine offers none.
        """
        rules = collecting.collect(source.assignment)
        with open_for(source, unsandboxed=unsandboxed) as sandbox:
            yield cls(source, rules, sandbox, seed, shared)

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
            bank = {
                f"{exercise}.{variant.name}": variant
                for variant in self.source.wrong
                if variant.exercise == exercise and variant.misconception is not None
            }
            self._bank[exercise] = self._shared.all(list(bank), lambda name: self._replies_of(bank[name]))
        return self._bank[exercise]

    def _replies_of(self, variant: Variant) -> WrongReplies:
        evidence = self._observe(self.cells_with(variant), self.recording.positions([variant.exercise]))
        replies = {
            name: [reply for reply in got if reply is not None]
            for name, got in evidence.replies.items()
            if name.startswith(f"{variant.exercise}/")
        }
        return WrongReplies(self.source.misconceptions[str(variant.misconception)], variant.name, replies)

    def full_recording(self) -> Recording:
        """The recording with the replies of every wrong answer, as release writes it."""
        return replace(
            self.recording,
            wrong={exercise.name: self.wrong_replies(exercise.name) for exercise in self.assignment.exercises},
            ways=self._ways(),
        )

    def _ways(self) -> dict[str, list[torch.Tensor]]:
        """The numbers that right answers meet, for every request that learners can have traced."""
        found: dict[str, list[torch.Tensor]] = {}
        for exercise, trace in self.assignment.traces.items():
            names = [f"{exercise}/{check}" for check in trace.checks]
            requests = [trace_request(self.recording, name, trace) for name in names]
            parts = {exercise, *self.assignment.needs_of(exercise)}
            right = [self.cells_with(variant) for variant in self.source.right if variant.exercise in parts]
            self._sandbox.give_plan(requests)
            replies: list[list[Any]] = [[] for _ in names]
            for cells in [self.reference, *right]:
                outcome = self._sandbox.run(Job([cell.source for cell in cells], range(len(requests))))
                for position, reply in outcome.replies.items():
                    if reply.problem is None:
                        replies[position].append(reply.value)
            found.update({name: gather(replies[position]) for position, name in enumerate(names)})
        self._sandbox.give_plan(self.recording.plan)
        return found

    # -- one submission -----------------------------------------------------------------------------------------

    def grade(self, student: str, path: Path) -> SubmissionResult:
        """Grade a notebook file. Never raises for what stands in it: that ends as `ungradable`."""
        try:
            data = notebooks.read_file(path)
        except Unreadable as problem:
            return self.ungradable(student, str(problem))
        return self.grade_bytes(student, data)

    def grade_bytes(self, student: str, data: bytes, before: SubmissionResult | None = None) -> SubmissionResult:
        """Grade a notebook's bytes. before: what an earlier run said of them; what it rests on may have changed."""
        started = time.monotonic()
        try:
            submission = notebooks.read(data, self.assignment)
        except Unreadable as problem:
            return replace(self.ungradable(student, str(problem)), sha256=hashlib.sha256(data).hexdigest())
        conduct = Conduct()
        kept = self._still_standing(submission, before) if before else {}
        exercises = self.judge(submission.cells, conduct, kept)
        if self.assignment.choices.off_limits_cost:
            exercises = self._without_off_limits(submission, exercises)
        return SubmissionResult(
            student=student,
            assignment=self.assignment.name,
            status="graded",
            score=total(exercises),
            max_score=self.assignment.max_score,
            exercises=tuple(exercises),
            flags=tuple(self._flags(submission, conduct)),
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

    def judge(
        self, cells: Sequence[Cell], conduct: Conduct | None = None, kept: Mapping[str, ExerciseResult] | None = None
    ) -> list[ExerciseResult]:
        """Every exercise, judged by itself and, where a piece it needs lost points, with stand-ins as well.

        kept: results of exercises that are not to be judged again.
        """
        conduct, kept = conduct or Conduct(), kept or {}
        asked = [name for name in self.assignment.by_name if name not in kept]
        evidence = self._observe(cells, self.recording.positions(asked), conduct=conduct)
        own = {name: kept[name] if name in kept else self._judge(name, evidence) for name in self.assignment.by_name}
        broken = {
            name for name, result in own.items() if result.score < result.max_score or result.judged_with != "own"
        }
        results = dict(own)
        for name, result in own.items():
            if name in kept:
                continue
            needs = [need for need in self.assignment.calls_of(name) if need in broken]
            if not needs or result.score >= result.max_score or not self.source.stand_ins or not result.attempted:
                continue
            try:
                evidence = self._observe(cells, self.recording.positions([name]), needs, conduct)
            except StandInsFailed:
                if not self._stand_ins_hold(needs):
                    raise  # the course's mistake
                continue  # the submission's own doing: it keeps what it has
            helped = self._judge(name, evidence, "stand-ins")
            if helped.score > result.score:
                results[name] = helped
        return list(results.values())

    def _still_standing(self, submission: Submission, before: SubmissionResult) -> dict[str, ExerciseResult]:
        """The earlier results that still hold: of the same notebook, resting on the same things.

        None holds where the submission's conduct was noted, or where one exercise's answer may cost others.
        """
        earlier = {result.name: result for result in before.exercises}
        if (
            (before.status, before.sha256, before.isolation) != ("graded", submission.sha256, self.isolation)
            or self.assignment.choices.off_limits_cost
            or not set(before.flags) <= set(self._flags(submission, Conduct()))
        ):
            return {}
        stale = stale_exercises(earlier, self.bases, self.assignment)
        return {name: earlier[name] for name in self.assignment.by_name if name not in stale}

    def _without_off_limits(self, submission: Submission, exercises: Sequence[ExerciseResult]) -> list[ExerciseResult]:
        """An exercise that calls what is off limits gets no points, as the instructor chose."""
        called: dict[str, list[str]] = {}
        for exercise, name in notebooks.off_limits_calls(submission.cells, self.assignment.off_limits):
            called.setdefault(exercise, []).append(name)
        words = _("Expected an answer of your own. Got a call of {names}, which is off limits in this assignment.")
        return [
            without_points(result, words.format(names=", ".join(called[result.name])))
            if result.name in called
            else result
            for result in exercises
        ]

    def judge_exercise_alone(self, cells: Sequence[Cell], exercise: str) -> ExerciseResult:
        """One exercise of a notebook whose other answers are known to be sound."""
        return self._judge(exercise, self._observe(cells, self.recording.positions([exercise])))

    def _judge(self, name: str, evidence: Evidence, judged_with: Literal["own", "stand-ins"] = "own") -> ExerciseResult:
        """The verdict on one exercise. It follows from the evidence alone, so equal evidence is judged once."""
        exercise = self.assignment.by_name[name]
        digest = evidence.digests.get(name) if name not in evidence.deaths else None
        defined = evidence.defined.intersection(exercise.functions)
        stubs = evidence.stubs.intersection(exercise.functions)
        near = tuple(near_names(exercise, self.rules, evidence.defined).items())
        known = (name, judged_with, digest, defined, near, stubs, evidence.problems.get(name))
        result = self._verdicts.pop(known, None) if digest is not None else None
        if result is None:
            result = judge_exercise(exercise, self.rules, self.recording, evidence, self.wrong_replies)
            result = replace(result, judged_with=judged_with, judged_by=self.bases[name])
        if digest is not None:
            self._verdicts[known] = result  # now the youngest
            if len(self._verdicts) > MOST_KEPT:
                del self._verdicts[next(iter(self._verdicts))]
        return result

    def _flags(self, submission: Submission, conduct: Conduct) -> list[str]:
        """What an instructor may want to look at. No flag changes a score."""
        flags = [
            _("{exercise} calls {name}, which is off limits.").format(exercise=exercise, name=name)
            for exercise, name in notebooks.off_limits_calls(submission.cells, self.assignment.off_limits)
        ]
        changed = notebooks.changed_cells(submission.cells, self.reference)
        if changed:
            words = _("Cells that were to be left as they are were changed or are missing: {names}.")
            flags.append(words.format(names=", ".join(changed)))
        for name in conduct.endings:
            place = name or _("A cell outside the exercises")
            flags.append(_("{place} ended the process: {how}.").format(place=place, how=conduct.endings[name]))
        for name in conduct.refused:
            place = name or _("A cell outside the exercises")
            flags.append(_("{place} was refused what it tried: {how}.").format(place=place, how=conduct.refused[name]))
        return flags

    # -- across the boundary ------------------------------------------------------------------------------------

    def _observe(
        self,
        cells: Sequence[Cell],
        positions: Sequence[int],
        replaced: Sequence[str] = (),
        conduct: Conduct | None = None,
    ) -> Evidence:
        """Run cells and requests in a child. Who ends it is left out, and what is not yet answered is run in another.

        A cell outside the exercises costs nothing: what it defines is run once more without the rest of it. Each pass
        settles a cell or an exercise, so it comes to an end whatever a child says of itself.
        """
        stand_ins = self._stand_ins(replaced) if replaced else ""
        plan = self.recording.plan
        conduct = conduct or Conduct()
        left_out = {
            i
            for i, cell in enumerate(cells)
            if (cell.exercises and set(cell.exercises) <= set(replaced)) or notebooks.only_checks(cell.source)
        }
        deaths: dict[str, Death] = {}
        died_at: dict[str, int] = {}
        replies: dict[int, Reply] = {}
        digests: dict[str, bytes] = {}
        careful = False
        fatal = 0
        while True:
            kept = [i for i in range(len(cells)) if i not in left_out]
            asked = [i for i in positions if i not in replies and plan[i].exercise not in deaths]
            job = Job([cells[i].source for i in kept], asked, stand_ins, careful, conduct.brief)
            outcome = self._sandbox.run(job)
            careful = False
            replies.update(outcome.replies)
            digests.update(outcome.digests)
            death = outcome.death
            if death is None:
                break
            conduct.strain(death)
            if death.step is None:
                if not job.careful:
                    careful = True  # once more, told step by step: what it wrote to its channel was none of ours
                    continue
                for name in self.assignment.by_name:
                    deaths.setdefault(name, death)
                conduct.ended(tuple(self.assignment.by_name), death)
                break
            kind, position = death.step
            if kind == "request":
                exercise = plan[position].exercise
                # One exercise's replies are one piece: they come from one process, or are not there.
                digests.pop(exercise, None)
                for i in positions:
                    if plan[i].exercise == exercise:
                        replies.pop(i, None)
                if not death.sure:
                    continue  # those before it took the time; now it is the first
                deaths[exercise] = death
                died_at[exercise] = position
                conduct.ended((exercise,), death)
                if all(i in replies or plan[i].exercise in deaths for i in positions):
                    break
            else:
                culprit = kept[position]
                owners = cells[culprit].exercises
                defined = "" if owners else notebooks.definitions(cells[culprit].source)
                if defined:
                    cells = [*cells[:culprit], replace(cells[culprit], source=defined), *cells[culprit + 1 :]]
                else:
                    left_out.add(culprit)
                conduct.ended(owners, death)
                fatal += 1
                if fatal >= MOST_FATAL_CELLS:
                    left_out.update(i for i, cell in enumerate(cells) if not cell.exercises)
                for name in owners:
                    deaths[name] = death
                left_out.update(i for i, cell in enumerate(cells) if set(cell.exercises) & set(owners))
        for i, problem in zip(kept, outcome.problems, strict=False):
            conduct.met(cells[i].exercises, problem)
        for i, reply in replies.items():
            conduct.met((plan[i].exercise,), reply.problem)
        return replace(self._evidence(cells, kept, outcome, replies, deaths, died_at), digests=digests)

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
            stubs=notebooks.stubs(cells, self.assignment.exercise_of_function),
        )

    def _stand_ins_hold(self, exercises: Sequence[str]) -> bool:
        """Whether the stand-ins run beside the solved notebook, which does nothing to prevent them."""
        try:
            self._sandbox.run(Job([cell.source for cell in self.reference], (), self._stand_ins(exercises)))
        except StandInsFailed:
            return False
        return True

    def _stand_ins(self, exercises: Sequence[str]) -> str:
        """Library-built pieces for the functions of these exercises, and for no others."""
        functions = [name for exercise in exercises for name in self.assignment.by_name[exercise].functions]
        return source_for(self.source.stand_ins, functions)


def _names_of_probes(path: Path) -> Collection[str] | None:
    """What checks may ask for; None where that cannot be said here, but only by the sandbox."""
    try:
        return load_probes(path)
    except BadProbes:
        return None


@contextmanager
def open_for(source: Source, *, unsandboxed: bool, gpu: Limits | None = None) -> Iterator[Sandbox]:
    """The sandbox for an assignment's probes and namespace. gpu: with the GPUs in reach, and these limits instead.

    Raises `CourseError` where the course's own code is why it does not start.
    """
    try:
        sandbox = open_sandbox(
            source.assignment.probes,
            limits=gpu or source.assignment.choices.child_limits(),
            unsandboxed=unsandboxed,
            namespace_code=source.assignment.namespace,
            gpu=gpu is not None,
        )
    except SandboxError as problem:
        fault = _fault_beside_an_answer(source)
        if fault:
            raise CourseError(fault) from problem
        raise
    with sandbox:
        yield sandbox


def _fault_beside_an_answer(source: Source) -> str:
    """A sentence on why the course's own code cannot run beside an answer, "" where it can."""
    assignment = source.assignment
    try:
        load_probes(assignment.probes)
    except BadProbes as problem:
        return f"{problem} Mend {assignment.probes} and run `autograder verify`."
    try:
        exec(compile(assignment.namespace, COURSE, "exec"), {})
    except (Exception, SystemExit) as problem:
        what = ": ".join(part for part in (type(problem).__name__, str(problem)) if part)
        where = assignment.folder / SETTINGS
        return f"The code of namespace in {where} raises {what}. Mend it and run `autograder verify`."
    return ""


def grading_session(
    source: Source, *, seed: int, unsandboxed: bool, body: Callable[[Grader], None], shared: Path | None = None
) -> None:
    """One pytest session, one sandbox, one grader: `body` holds the loop over submissions."""

    def run(rules: Sequence[Rule]) -> None:
        with open_for(source, unsandboxed=unsandboxed) as sandbox:
            body(Grader(source, rules, sandbox, seed, shared))

    collecting.in_session(source.assignment, run)


def record_release(source: Source, seed: int = RELEASE_SEED) -> Recording:
    """The recording that the learners' copy replays. The course's own code may run unisolated where nothing else is.

    Raises `CourseError`.
    """
    try:
        try:
            with Grader.open(source, seed=seed) as grader:
                return grader.full_recording()
        except NoIsolation:
            with Grader.open(source, seed=seed, unsandboxed=True) as grader:
                return grader.full_recording()
    except SandboxError as problem:
        raise CourseError(f"Nothing can be recorded, so nothing was released. {problem}") from problem

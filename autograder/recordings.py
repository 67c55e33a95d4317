"""A pass of the checks over the reference: what they drew, what they asked, what the reference replied.

Grading makes one from the run's seed. Release writes one to disk, with the replies of the wrong answers, for the
learner's copy to replay. It holds observations, never code of an answer.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from autograder import wire
from autograder.checking import Answer, CheckFailed, Draw, Pending, Rule
from autograder.course import Assignment, CourseError, Misconception
from autograder.observations import Plain, Problem, Reply, Request

FORMAT = 3


def key(rule: Rule) -> str:
    """Name of a check within its assignment."""
    return f"{rule.exercise}/{rule.name}"


@dataclass(frozen=True)
class Take:
    """One check's pass over the reference."""

    drawn: Sequence[Plain]
    requests: Sequence[Request]
    replies: Sequence[Reply]


@dataclass(frozen=True)
class WrongReplies:
    """What one wrong answer replied to its exercise's requests, by check."""

    misconception: Misconception
    name: str
    replies: Mapping[str, Sequence[Reply]]


@dataclass(frozen=True)
class Recording:
    """Takes by check key, in the order of the rules.

    ways: by check key, the numbers that right answers meet on their way through its first request.
    """

    seed: int
    takes: Mapping[str, Take]
    wrong: Mapping[str, Sequence[WrongReplies]] = field(default_factory=dict)
    ways: Mapping[str, Sequence[torch.Tensor]] = field(default_factory=dict)

    @property
    def plan(self) -> list[Request]:
        """Every request, in order."""
        return [request for take in self.takes.values() for request in take.requests]

    def positions(self, exercises: Sequence[str] | None = None) -> list[int]:
        """Where in the plan the requests of these exercises stand (all without an argument)."""
        return [i for i, request in enumerate(self.plan) if exercises is None or request.exercise in exercises]

    def by_check(self, replies: Mapping[int, Reply]) -> dict[str, list[Reply | None]]:
        """Replies by position in the plan → by check; None where one is missing."""
        found: dict[str, list[Reply | None]] = {}
        position = 0
        for name, take in self.takes.items():
            count = len(take.requests)
            found[name] = [replies.get(i) for i in range(position, position + count)]
            position += count
        return found


class _Collecting:
    """Replies of the reference as far as they are known; remembers what else was asked."""

    def __init__(self, known: Sequence[Reply]) -> None:
        self._known = known
        self.asked: list[Request] = []

    def next(self, request: Request) -> tuple[Reply, Reply]:
        self.asked.append(request)
        if len(self.asked) > len(self._known):
            raise Pending
        reply = self._known[len(self.asked) - 1]
        return reply, reply


def record(
    rules: Sequence[Rule],
    seed: int,
    ask_reference: Callable[[Sequence[Request]], Sequence[Reply]],
    probes: Collection[str] | None = None,
) -> Recording:
    """Pass the checks over the reference. `ask_reference` answers a list of requests, in order.

    probes: the names of the course's probes, where they are known.

    Checks are run again and again, each time one request further, all checks' requests of a round going out together.
    Raises `CourseError` where the reference fails a check or a check is broken: then the course is wrong, not a
    learner.
    """
    known: dict[str, list[Reply]] = {key(rule): [] for rule in rules}
    takes: dict[str, Take] = {}
    waiting = list(rules)
    while waiting:
        questions: list[tuple[Rule, Request]] = []
        for rule in waiting:
            replies = _Collecting(known[key(rule)])
            draw = Draw(seed, key(rule))
            answer = Answer(rule.exercise, key(rule), seed, replies)
            try:
                rule.run(answer, draw)
            except Pending as pending:
                request = replies.asked[-1]
                if probes is not None and request.probe not in probes:
                    raise CourseError(_no_probe(rule, request.probe, probes, rule.place(pending))) from None
                questions.append((rule, request))
            except CheckFailed as failure:
                raise CourseError(_reference_fails(rule, seed, answer, failure)) from failure
            else:
                if not replies.asked:
                    raise CourseError(f"The check {key(rule)} observes nothing.")
                takes[key(rule)] = Take(tuple(draw.drawn), tuple(replies.asked), tuple(known[key(rule)]))
        if questions:
            for (rule, _request), reply in zip(
                questions, ask_reference([request for _, request in questions]), strict=True
            ):
                known[key(rule)].append(reply)
        waiting = [rule for rule, _ in questions]
    return Recording(seed, {key(rule): takes[key(rule)] for rule in rules})


def _no_probe(rule: Rule, probe: str, probes: Collection[str], place: str) -> str:
    near = difflib.get_close_matches(probe, list(probes), 1)
    meant = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(sorted(probes)) or 'none'}."
    return (
        f"The check {key(rule)} asks for the probe {probe} ({place}), which probes.py does not define. {meant} "
        "Mend the check or the probes and run `autograder verify`."
    )


def _reference_fails(rule: Rule, seed: int, answer: Answer, failure: CheckFailed) -> str:
    """What a course's author must know: where, and whether the check's last probe came to its end at all."""
    last = answer.observed[-1] if answer.observed else None
    what, mend = failure.difference.sentence, "the check, its probe or the reference"
    if last is not None and last.problem is not None and not failure.compared:
        problem = last.problem
        what = f"the probe {last.request.probe} raises {': '.join(filter(None, (problem.kind, problem.message)))}."
        mend = f"{last.request.probe} in probes.py, what the check gives it, or the reference"
    return (
        f"The reference fails the check {key(rule)} with seed {seed} ({rule.place(failure)}): {what} Mend {mend}, and "
        "run `autograder verify`."
    )


def _path(folder: Path, exercise: str) -> Path:
    return folder / f"{exercise}.recording"


class _Written:
    """Replies on their way into a file, equal ones once: most of what a wrong answer replies is the reference's."""

    def __init__(self) -> None:
        self.replies: list[Plain] = []
        self._places: dict[bytes, int] = {}

    def places(self, replies: Sequence[Reply]) -> list[int]:
        """Where these replies stand among all."""
        return [self._place(_pack_reply(reply)) for reply in replies]

    def _place(self, packed: Plain) -> int:
        place = self._places.setdefault(wire.encode(packed), len(self.replies))
        if place == len(self.replies):
            self.replies.append(packed)
        return place


def _pack_reply(reply: Reply) -> Plain:
    """Without the lines that raised an exception: they are an answer's own."""
    if reply.problem is not None:
        return {"kind": reply.problem.kind, "message": reply.problem.message}
    return {"value": reply.value}


def _unpack_reply(packed: Any) -> Reply:
    if "kind" in packed:
        return Reply(problem=Problem(packed["kind"], packed["message"]))
    return Reply(packed["value"])


def save(recording: Recording, folder: Path, extra: Mapping[str, Plain]) -> None:
    """Write one file per exercise. `extra` goes into each (what the recording was made from).

    Requests are not written: the checks make them again from what they drew.
    """
    folder.mkdir(parents=True, exist_ok=True)
    exercises = dict.fromkeys(name.partition("/")[0] for name in recording.takes)
    for exercise in exercises:
        takes = {name: take for name, take in recording.takes.items() if name.partition("/")[0] == exercise}
        written = _Written()
        content: Plain = {
            "format": FORMAT,
            "seed": recording.seed,
            **extra,
            "takes": {
                name: {"drawn": list(take.drawn), "replies": written.places(take.replies)}
                for name, take in takes.items()
            },
            "wrong": [
                {
                    "misconception": {
                        "name": wrong.misconception.name,
                        "says": wrong.misconception.says,
                        "advice": wrong.misconception.advice,
                        "chapter": wrong.misconception.chapter,
                    },
                    "replies": {name: written.places(replies) for name, replies in wrong.replies.items()},
                }
                for wrong in recording.wrong.get(exercise, ())
            ],
            "ways": {name: list(numbers) for name, numbers in recording.ways.items() if name in takes},
            "replies": written.replies,
        }
        _path(folder, exercise).write_bytes(wire.encode(content))


def load(assignment: Assignment, rules: Sequence[Rule]) -> Recording:
    """Read the recordings of these rules and make their requests again. Raises `CourseError`."""
    contents: dict[str, Any] = {}
    seed = 0
    wrong: dict[str, list[WrongReplies]] = {}
    ways: dict[str, Sequence[torch.Tensor]] = {}
    for exercise in dict.fromkeys(rule.exercise for rule in rules):
        path = _path(assignment.recordings, exercise)
        try:
            content: Any = wire.decode(path.read_bytes())
        except OSError as problem:
            raise CourseError(
                f"The recording {path} cannot be read: {problem.strerror}. Unpack the course again."
            ) from None
        except wire.Malformed as problem:
            raise CourseError(f"The recording {path} is damaged: {problem}. Unpack the course again.") from None
        if content.get("format") != FORMAT:
            raise CourseError(
                f"The recording {path} was made by another version of the autograder. Unpack the course again."
            )
        replies = [_unpack_reply(packed) for packed in content["replies"]]
        contents.update(
            {
                name: (take["drawn"], [replies[place] for place in take["replies"]])
                for name, take in content["takes"].items()
            }
        )
        ways.update(content["ways"])
        seed = content["seed"]
        wrong[exercise] = [
            WrongReplies(
                Misconception(**entry["misconception"]),
                "",
                {name: [replies[place] for place in places] for name, places in entry["replies"].items()},
            )
            for entry in content["wrong"]
        ]
    takes = {}
    for rule in rules:
        name = key(rule)
        if name not in contents:
            raise CourseError(f"The recordings lack the check {name}. Unpack the course again.")
        drawn, known = contents[name]
        collecting = _Collecting(known)
        rule.run(Answer(rule.exercise, name, seed, collecting), Draw(seed, name, drawn))
        takes[name] = Take(drawn, tuple(collecting.asked), known)
    return Recording(seed, takes, wrong, ways)

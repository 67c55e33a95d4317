"""The trusted side of the sandbox: opens it, hands jobs to it, and says what came of them.

Nothing that comes back is trusted to be more than plain data of a limited size.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import logging
import math
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from autograder import wire
from autograder.observations import Death, Job, Limits, Outcome, Plain, Problem, Reply, Request
from autograder.sandbox import filters
from autograder.sandbox.control import Lost
from autograder.sandbox.processes import (
    BUBBLEWRAP,
    OWN,
    PLAIN,
    SPAWNED,
    Child,
    End,
    NoIsolation,
    SandboxBroken,
    SandboxError,
    Spawner,
    Zygote,
    can_fork,
)

BRIEF = 4  # a brief job gets this part of the time
_GRACE_SECONDS = 0.5  # for a child that closed its channel to end by itself, so that its own cause of death is seen

_KEPT_BYTES = 24 << 20  # of messages whose meaning is kept
_LARGEST_KEPT = 256 << 10  # bytes of one of them

_log = logging.getLogger(__name__)


class StandInsFailed(SandboxError):
    """The source of the stand-ins raised an exception after the cells had run."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"The stand-ins could not be run beside an answer: {problem.kind}: {problem.message}")
        self.problem = problem


def open_sandbox(
    probes: Path,
    *,
    limits: Limits | None = None,
    unsandboxed: bool = False,
    namespace_code: str = "",
    gpu: bool = False,
) -> Sandbox:
    """Starts a sandbox: some seconds, after which each job costs milliseconds.

    probes: a file of probe functions, or a folder of such files. limits: for each child (default: `Limits()`).
    namespace_code: run once, in the namespace that every answer finds. unsandboxed: plain processes instead, where
    learners' code can read and write whatever this user can. gpu: learners' code may use the GPUs: it reaches their
    devices, and with them the driver in the kernel and whatever memory of the card nobody else holds.

    Raises NoIsolation where isolation is not to be had, or where it would show the probes' folder to learners; and
    SandboxBroken when the probes or the namespace's code cannot be loaded.
    """
    return Sandbox(probes, limits or Limits(), unsandboxed, namespace_code, gpu)


class Sandbox:
    """A zygote and its children. Does one job at a time; a worker that wants two opens two.

    isolation: "namespaces" or "none". means: how that is done, one of `OWN`, `BUBBLEWRAP`, `PLAIN`, `SPAWNED`.
    layers: what stands around a child, by name. restarts: how often the zygote had to be started again.
    """

    def __init__(self, probes: Path, limits: Limits, unsandboxed: bool, namespace_code: str, gpu: bool = False) -> None:
        self.isolation = "none" if unsandboxed else "namespaces"
        self.means = OWN if not unsandboxed else PLAIN if can_fork() else SPAWNED
        self.layers: dict[str, bool] = {}
        self.restarts = 0
        self.limits = limits
        self._probes = probes
        self._namespace_code = namespace_code
        self._gpu = gpu
        self._plan: bytes | None = None
        self._exercises: list[str] = []  # by position in the plan
        self._zygote: Zygote | Spawner | None = None
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._readings = _Readings()
        self._kills = _kills_for_memory()
        try:
            self._start()
        except Lost as problem:
            raise SandboxBroken(f"The sandbox does not start. {problem}") from problem

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def give_plan(self, requests: Sequence[Request]) -> None:
        """What jobs may ask, by position. It holds inputs only, for every child can read all of it.

        Raises SandboxBroken when a request names a probe that does not exist.
        """
        self._plan = wire.encode([wire.plain_request(request) for request in requests])
        self._exercises = [request.exercise for request in requests]
        self._readings = _Readings()
        with self._lock:
            self._attempt(lambda zygote: self._send_plan(zygote))

    def run(self, job: Job) -> Outcome:
        """Does one job in a fresh child.

        Raises SandboxBroken when the sandbox stopped working twice, StandInsFailed when the stand-ins raised, and
        IndexError when the job asks for a request that the plan does not have.
        """
        if any(not 0 <= position < len(self._exercises) for position in job.requests):
            raise IndexError("A job asks for a request that is not in the plan.")
        with self._lock:
            outcome: Outcome = self._attempt(lambda zygote: self._do(zygote, job))
        return outcome

    def close(self) -> None:
        """Ends the zygote and whatever runs in it."""
        zygote, self._zygote = self._zygote, None
        if zygote is not None and self._owner == os.getpid():
            zygote.close()

    def _start(self) -> None:
        self._zygote = self._new_zygote()
        if self._plan is not None:
            self._send_plan(self._zygote)

    def _new_zygote(self) -> Zygote | Spawner:
        def new(means: str) -> Zygote | Spawner:
            if means == SPAWNED:
                return self._tried(Spawner(self._probes, self.limits, self._namespace_code))
            return self._tried(Zygote(self._probes, self.limits, means, self._namespace_code, self._gpu))

        if self.isolation == "none":
            return new(self.means)
        refusal = NoIsolation("Bubblewrap does not isolate learners' code any more.")
        if self.means != BUBBLEWRAP:
            try:
                return new(OWN)
            except NoIsolation as problem:
                refusal = problem
        # Some systems let only programs they know make namespaces.
        program = shutil.which("bwrap")
        if program is None or filters.system_call_program() is None:
            raise refusal
        try:
            zygote = new(BUBBLEWRAP)
        except NoIsolation:
            raise refusal from None
        self.means = BUBBLEWRAP
        return zygote

    def _tried(self, zygote: Zygote | Spawner) -> Zygote | Spawner:
        """An empty job shows that a child can be had at all, and what stands around it."""
        try:
            self._do(zygote, Job((), ()))
        except BaseException as problem:
            zygote.close()
            if isinstance(problem, Lost) and self.isolation != "none":
                raise NoIsolation(f"Learners' code cannot be isolated here. {problem}") from problem
            raise
        return zygote

    def _attempt(self, action: Any) -> Any:
        """Runs `action` on the zygote; when that one is lost, starts another and tries once more."""
        if self._owner != os.getpid():
            raise SandboxBroken("A sandbox can only be used by the process that opened it.")
        try:
            if self._zygote is None:
                raise Lost("There is no zygote.")
            return action(self._zygote)
        except Lost as problem:
            _log.warning("The sandbox stopped working and is started again. %s", problem)
        self.close()
        self.restarts += 1
        try:
            self._start()
            return action(self._zygote)
        except (Lost, NoIsolation) as problem:
            self.close()
            raise SandboxBroken(f"The sandbox stopped working and could not be started again. {problem}") from problem

    def _step_seconds(self, job: Job) -> float:
        seconds = min(self.limits.step_seconds, float(self.limits.cpu_seconds))
        return seconds / BRIEF if job.brief else seconds

    def _wall_seconds(self, job: Job) -> float:
        return self.limits.wall_seconds / BRIEF if job.brief else self.limits.wall_seconds

    def _too_late(self, job: Job) -> Death:
        # The same words for all limits: which of them is met first depends on how busy the machine is.
        seconds = f"{self._step_seconds(job):g} seconds of computing or {self._wall_seconds(job):g} seconds in all"
        return Death("time", f"more than {seconds}")

    def _cause(self, end: End, job: Job) -> Death:
        """Why a child is no more, from how its process ended."""
        if end.killed:
            return Death("reply", "It closed its channel and went on.")
        code = end.code
        if code >= 0:
            return Death("exit", f"exit code {code}")
        number = -code
        # The kernel's timers count in ticks, and a tick is charged whole to whom it finds: on a busy machine a limit is
        # met before the seconds are used up.
        out_of_time = end.cpu >= self.limits.cpu_seconds / 2
        used_up = end.cpu >= self._step_seconds(job) / 2
        if number == signal.SIGKILL:
            before, self._kills = self._kills, _kills_for_memory()
            if self._kills > before:
                return Death("memory", "The machine ran out of memory.")
        if number == getattr(signal, "SIGXCPU", 0) or (number == signal.SIGKILL and out_of_time):
            return self._too_late(job)
        if number == getattr(signal, "SIGPROF", 0) and used_up:
            return self._too_late(job)
        with contextlib.suppress(ValueError):
            return Death("signal", signal.Signals(number).name)
        return Death("signal", f"signal {number}")

    def _blamed(self, cause: Death, heard: _Heard, child: Child, late: float | None = None, cpu: float = 0.0) -> Death:
        """The same death with the step that is to blame.

        late: when the wall clock ran out, None where something else did. cpu: what the process has computed in all.
        """
        job = heard.job
        marks = child.page.read() if child.page is not None else []
        step, first = heard.standing(marks, believed=cause.reason != "reply")
        if cause.reason != "time" or job.careful or step is None or not marks:
            return dataclasses.replace(cause, step=step)
        current = heard.index_of(step)
        left = int(marks[0][1]) - 1 if 1 <= marks[0][1] <= current else None
        if left is not None and (blamed := heard.step_at(left)) is not None:
            return dataclasses.replace(cause, step=blamed)  # it left a thread behind, which went on
        kind = 0 if late is None else 1
        begun = [pair[kind] for pair in marks[1:]]
        until = cpu if late is None else late
        room = self._step_seconds(job) if late is None else self._wall_seconds(job) / 2
        if step[0] == "cell":
            # The limit of all cells together was met here: the one that took most of it is to blame.
            begun = [*begun[: current + 1], until]
            used = [_difference(after, before) for before, after in itertools.pairwise(begun)]
            heaviest = max(range(len(used)), key=lambda one: (used[one], one)) if used else current
            return dataclasses.replace(cause, step=("cell", heaviest))
        sure = first is None or _difference(until, begun[heard.index_of(first)]) >= room * 0.9
        return dataclasses.replace(cause, step=step, sure=sure)

    def _send_plan(self, zygote: Zygote | Spawner) -> None:
        assert self._plan is not None
        unknown = zygote.give_plan(self._plan)
        if unknown:
            self._plan, self._exercises = None, []
            raise SandboxBroken(f"No probe is called {', '.join(unknown)} in {self._probes}.")

    def _do(self, zygote: Zygote | Spawner, job: Job) -> Outcome:
        payload = wire.encode(
            {
                "cells": list(job.cells),
                "requests": list(job.requests),
                "stand_ins": job.stand_ins,
                "careful": job.careful,
                "brief": job.brief,
            }
        )
        heard = _Heard(job, self._exercises, self._readings)
        with zygote.child(len(job.cells) + 1 + len(job.requests)) as child:
            deadline = time.monotonic() + self._wall_seconds(job)
            cause = None
            try:
                wire.send(child.channel, payload, deadline=deadline)
                self.layers = child.layers(deadline)
                heard.listen(child.channel, self.limits.reply_bytes, deadline)
            except TimeoutError:
                child.end(0)
                cause = self._blamed(self._too_late(job), heard, child, deadline)
            except _OutOfMemory:
                cause = Death("memory", f"more than {self.limits.memory_bytes >> 20} MB")
                cause = self._blamed(cause, heard, child)
            except wire.Malformed as problem:
                cause = self._blamed(Death("reply", str(problem)), heard, child)
            except (wire.Closed, OSError):
                end = child.end(_GRACE_SECONDS)
                cause = self._blamed(self._cause(end, job), heard, child, None, end.cpu)
            else:
                child.end(0)
            if cause is not None and not child.ready:
                raise Lost(f"A child could not be set up ({cause.reason}: {cause.detail}).")
        if cause is not None:
            return heard.outcome(cause)
        if heard.stand_ins is not None:
            raise StandInsFailed(heard.stand_ins)
        return heard.outcome(None)


# --- What a child says ----------------------------------------------------------------------------------------------


class _Readings:
    """What messages of replies meant, by their digest: answers that compute the same say the same, and are read once.

    The replies are handed out again and again, so nobody may change them.
    """

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[int, Mapping[int, Reply]]] = {}
        self._bytes = 0

    def get(self, digest: bytes) -> Mapping[int, Reply] | None:
        """The replies, where this message was read before."""
        known = self._kept.pop(digest, None)
        if known is None:
            return None
        self._kept[digest] = known  # now the youngest
        return known[1]

    def keep(self, digest: bytes, size: int, replies: Mapping[int, Reply]) -> None:
        """Remembers a message of `size` bytes; the oldest are forgotten for it."""
        if size > _LARGEST_KEPT or digest in self._kept:
            return
        self._kept[digest] = (size, replies)
        self._bytes += size
        while self._bytes > _KEPT_BYTES:
            oldest = next(iter(self._kept))
            self._bytes -= self._kept.pop(oldest)[0]


class _Heard:
    """Collects what a child says, and refuses what does not fit the job."""

    def __init__(self, job: Job, exercises: Sequence[str], readings: _Readings) -> None:
        self.job = job
        self._exercises = exercises
        self._readings = readings
        self._digests: dict[str, bytes] = {}
        self._problems: list[Problem | None] = []
        self._replies: dict[int, Reply] = {}
        self._defined: frozenset[str] = frozenset()
        self.stand_ins: Problem | None = None
        self._groups = [list(group) for _, group in itertools.groupby(job.requests, lambda one: exercises[one])]
        self._step: tuple[str, int] | None = None  # as far as the order of messages tells
        self._group: int | None = None  # whose replies are waited for, by number; None: the cells are not through

    def outcome(self, death: Death | None) -> Outcome:
        return Outcome(tuple(self._problems), dict(self._replies), self._defined, death, dict(self._digests))

    # -- where it stood -------------------------------------------------------------------------------------------

    def standing(
        self, marks: Sequence[tuple[float, float]], *, believed: bool
    ) -> tuple[tuple[str, int] | None, tuple[str, int] | None]:
        """The step at which the child stood, and the first step of that one's exercise where another came before it.

        Messages come in the order of the steps, so they tell the exercise for certain. The marks tell the rest, where
        they may be believed: what else a child writes to its channel is read before it has gone on.
        """
        if self.job.careful:
            return self._step, None
        where = math.nan
        if believed and marks and marks[0][0] >= 1 and marks[0][0] <= len(self.job.cells) + 1 + len(self.job.requests):
            where = marks[0][0]
        claimed = None if math.isnan(where) else self.step_at(int(where) - 1)
        if self._group is None:
            return (claimed if claimed is not None and claimed[0] == "cell" else None), None
        if self._group >= len(self._groups):
            return None, None
        group = self._groups[self._group]
        step = claimed if claimed is not None and claimed[0] == "request" and claimed[1] in group else None
        return step or ("request", group[0]), ("request", group[0]) if self._group else None

    def step_at(self, index: int) -> tuple[str, int] | None:
        """The step that has this place among all: cells, the stand-ins, requests."""
        cells = len(self.job.cells)
        if 0 <= index < cells:
            return ("cell", index)
        return ("request", self.job.requests[index - cells - 1]) if index > cells else None

    def index_of(self, step: tuple[str, int]) -> int:
        """The place of a step among all."""
        kind, position = step
        return position if kind == "cell" else len(self.job.cells) + 1 + list(self.job.requests).index(position)

    # -- listening ------------------------------------------------------------------------------------------------

    def listen(self, channel: socket.socket, limit: int, deadline: float) -> None:
        """Until the child has said all. Raises what `wire.receive` raises, and Malformed."""
        left = limit

        def hear() -> bytearray:
            nonlocal left
            data = wire.receive(channel, limit=left, deadline=deadline)
            left -= len(data)
            return data

        if self.job.careful:
            self._listen_step_by_step(lambda: _read(hear()))
            return
        self._take_cells(_read(hear()))
        if self.stand_ins is not None:
            return
        for number, group in enumerate(self._groups):
            self._group = number
            self._take_replies(hear(), group)
        self._group = len(self._groups)

    def _take_cells(self, message: Plain) -> None:
        if not isinstance(message, Mapping) or set(message) != {"problems", "stand_ins", "defined"}:
            raise wire.Malformed("The reply is not of the form that was agreed.")
        problems = message["problems"]
        if not isinstance(problems, list) or len(problems) != len(self.job.cells):
            raise wire.Malformed("The reply does not fit the job.")
        if message["stand_ins"] is not None and not self.job.stand_ins:
            raise wire.Malformed("Stand-ins failed that nobody asked for.")
        taken = [None if one is None else wire.as_problem(one) for one in problems]
        self.stand_ins = None if message["stand_ins"] is None else wire.as_problem(message["stand_ins"])
        self._defined = _names(message["defined"])
        self._problems = taken

    def _take_replies(self, data: bytearray, expected: Sequence[int]) -> None:
        digest = hashlib.blake2b(data, digest_size=32).digest()
        taken = self._readings.get(digest)
        if taken is None or list(taken) != list(expected):
            taken = self._understood(_read(data), expected)
            self._readings.keep(digest, len(data), taken)
        self._replies.update(taken)
        self._digests[self._exercises[expected[0]]] = digest

    @staticmethod
    def _understood(replies: Plain, expected: Sequence[int]) -> dict[int, Reply]:
        if not isinstance(replies, list) or len(replies) != len(expected):
            raise wire.Malformed("The reply does not fit the job.")
        taken = {}
        for position, pair in zip(expected, replies, strict=True):
            if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) is not int or pair[0] != position:
                raise wire.Malformed("The reply does not fit the job.")
            taken[position] = wire.as_reply(pair[1])
        return taken

    def _listen_step_by_step(self, hear_one: Callable[[], Plain]) -> None:
        def hear(word: str, *fixed: Plain, more: int = 0) -> list[Plain]:
            message = hear_one()
            expected = [word, *fixed]
            if not isinstance(message, list) or len(message) != len(expected) + more:
                raise wire.Malformed("A message does not fit the job.")
            head = message[: len(expected)]
            if any(type(one) is not type(two) or one != two for one, two in zip(head, expected, strict=True)):
                raise wire.Malformed("A message does not fit the job.")
            return message[len(expected) :]

        for position in range(len(self.job.cells)):
            self._step = ("cell", position)
            hear("cell", position)
            (problem,) = hear("ran", position, more=1)
            self._problems.append(None if problem is None else wire.as_problem(problem))
        self._step = None
        (problem,) = hear("stood in", more=1)
        if problem is not None:
            if not self.job.stand_ins:
                raise wire.Malformed("Stand-ins failed that nobody asked for.")
            self.stand_ins = wire.as_problem(problem)
            return
        for position in self.job.requests:
            self._step = ("request", position)
            hear("request", position)
            (reply,) = hear("replied", position, more=1)
            self._replies[position] = wire.as_reply(reply)
        self._step = None
        (names,) = hear("done", more=1)
        self._defined = _names(names)


def _difference(after: float, before: float) -> float:
    """Seconds between two marks; 0 where what stands there makes no sense."""
    seconds = after - before
    return seconds if 0 <= seconds < math.inf else 0.0


class _OutOfMemory(Exception):
    """A child says that no memory is left to it."""


def _read(data: bytearray) -> Plain:
    if data == wire.OUT_OF_MEMORY:
        raise _OutOfMemory
    return wire.decode(data)


def _names(plain: Plain) -> frozenset[str]:
    if not isinstance(plain, list) or not all(isinstance(name, str) for name in plain):
        raise wire.Malformed("The names are not a list of texts.")
    return frozenset(str(name) for name in plain)


def _kills_for_memory() -> int:
    """How many processes the kernel has killed because memory ran out; 0 where it does not say."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0

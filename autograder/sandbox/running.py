"""The trusted side of the sandbox: opens it, hands jobs to it, and says what came of them.

Nothing that comes back is trusted to be more than plain data of a limited size.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
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
    End,
    NoIsolation,
    SandboxBroken,
    SandboxError,
    Spawner,
    Zygote,
    can_fork,
)

_GRACE_SECONDS = 0.5  # for a child that closed its channel to end by itself, so that its own cause of death is seen

_log = logging.getLogger(__name__)


class StandInsFailed(SandboxError):
    """The source of the stand-ins raised an exception after the cells had run."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"The stand-ins could not be run beside an answer: {problem.kind}: {problem.message}")
        self.problem = problem


def open_sandbox(
    probes: Path, *, limits: Limits | None = None, unsandboxed: bool = False, namespace_code: str = ""
) -> Sandbox:
    """Starts a sandbox: some seconds, after which each job costs milliseconds.

    probes: a file of probe functions, or a folder of such files. limits: for each child (default: `Limits()`).
    namespace_code: run once, in the namespace that every answer finds. unsandboxed: plain processes instead, where
    learners' code can read and write whatever this user can.

    Raises NoIsolation where isolation is not to be had, or where it would show the probes' folder to learners; and
    SandboxBroken when the probes or the namespace's code cannot be loaded.
    """
    return Sandbox(probes, limits or Limits(), unsandboxed, namespace_code)


class Sandbox:
    """A zygote and its children. Does one job at a time; a worker that wants two opens two.

    isolation: "namespaces" or "none". means: how that is done, one of `OWN`, `BUBBLEWRAP`, `PLAIN`, `SPAWNED`.
    layers: what stands around a child, by name. restarts: how often the zygote had to be started again.
    """

    def __init__(self, probes: Path, limits: Limits, unsandboxed: bool, namespace_code: str) -> None:
        self.isolation = "none" if unsandboxed else "namespaces"
        self.means = OWN if not unsandboxed else PLAIN if can_fork() else SPAWNED
        self.layers: dict[str, bool] = {}
        self.restarts = 0
        self.limits = limits
        self._probes = probes
        self._namespace_code = namespace_code
        self._plan: bytes | None = None
        self._places = 0
        self._zygote: Zygote | Spawner | None = None
        self._lock = threading.Lock()
        self._owner = os.getpid()
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
        self._places = len(requests)
        with self._lock:
            self._attempt(lambda zygote: self._send_plan(zygote))

    def run(self, job: Job) -> Outcome:
        """Does one job in a fresh child.

        Raises SandboxBroken when the sandbox stopped working twice, StandInsFailed when the stand-ins raised, and
        IndexError when the job asks for a request that the plan does not have.
        """
        if any(not 0 <= position < self._places for position in job.requests):
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
            return self._tried(Zygote(self._probes, self.limits, means, self._namespace_code))

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

    def _too_late(self) -> Death:
        # The same words for both limits: which of them is met first depends on how busy the machine is.
        seconds = f"{self.limits.cpu_seconds} seconds of computing or {self.limits.wall_seconds:g} seconds in all"
        return Death("time", f"more than {seconds}")

    def _cause(self, end: End) -> Death:
        """Why a child is no more, from how its process ended."""
        if end.killed:
            return Death("reply", "It closed its channel and went on.")
        code = end.code
        if code >= 0:
            return Death("exit", f"exit code {code}")
        number = -code
        out_of_time = end.cpu >= self.limits.cpu_seconds - 0.1
        if number == getattr(signal, "SIGXCPU", 0) or (number == signal.SIGKILL and out_of_time):
            return self._too_late()
        if number == signal.SIGKILL:
            before, self._kills = self._kills, _kills_for_memory()
            if self._kills > before:
                return Death("memory", "The machine ran out of memory.")
        with contextlib.suppress(ValueError):
            return Death("signal", signal.Signals(number).name)
        return Death("signal", f"signal {number}")

    def _send_plan(self, zygote: Zygote | Spawner) -> None:
        assert self._plan is not None
        unknown = zygote.give_plan(self._plan)
        if unknown:
            self._plan, self._places = None, 0
            raise SandboxBroken(f"No probe is called {', '.join(unknown)} in {self._probes}.")

    def _do(self, zygote: Zygote | Spawner, job: Job) -> Outcome:
        payload = wire.encode(
            {
                "cells": list(job.cells),
                "requests": list(job.requests),
                "stand_ins": job.stand_ins,
                "careful": job.careful,
            }
        )
        heard = _Heard(job)
        with zygote.child() as child:
            deadline = time.monotonic() + self.limits.wall_seconds
            cause = None
            try:
                wire.send(child.channel, payload, deadline=deadline)
                self.layers = child.layers(deadline)
                heard.listen(child.channel, self.limits.reply_bytes, deadline)
            except TimeoutError:
                cause = self._too_late()
            except _OutOfMemory:
                cause = Death("memory", f"more than {self.limits.memory_bytes >> 20} MB")
            except wire.Malformed as problem:
                cause = Death("reply", str(problem))
            except (wire.Closed, OSError):
                cause = self._cause(child.end(_GRACE_SECONDS))
            else:
                child.end(0)
            if cause is not None and not child.ready:
                raise Lost(f"A child could not be set up ({cause.reason}: {cause.detail}).")
        if cause is not None:
            return heard.outcome(dataclasses.replace(cause, step=heard.step))
        if heard.stand_ins is not None:
            raise StandInsFailed(heard.stand_ins)
        return heard.outcome(None)


# --- What a child says ----------------------------------------------------------------------------------------------


class _Heard:
    """Collects what a child says, and refuses what does not fit the job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._problems: list[Problem | None] = []
        self._replies: dict[int, Reply] = {}
        self._defined: frozenset[str] = frozenset()
        self.stand_ins: Problem | None = None
        self.step: tuple[str, int] | None = None

    def outcome(self, death: Death | None) -> Outcome:
        return Outcome(tuple(self._problems), dict(self._replies), self._defined, death)

    def listen(self, channel: socket.socket, limit: int, deadline: float) -> None:
        """Until the child has said all. Raises what `wire.receive` raises, and Malformed."""
        if self._job.careful:
            self._listen_step_by_step(channel, limit, deadline)
        else:
            data = wire.receive(channel, limit=limit, deadline=deadline)
            self._take_all(_read(data))

    def _take_all(self, message: Plain) -> None:
        if not isinstance(message, Mapping) or set(message) != {"problems", "stand_ins", "replies", "defined"}:
            raise wire.Malformed("The reply is not of the form that was agreed.")
        problems, replies = message["problems"], message["replies"]
        if not isinstance(problems, list) or len(problems) != len(self._job.cells) or not isinstance(replies, list):
            raise wire.Malformed("The reply does not fit the job.")
        self._problems = [None if one is None else wire.as_problem(one) for one in problems]
        self.stand_ins = None if message["stand_ins"] is None else wire.as_problem(message["stand_ins"])
        expected = [] if self.stand_ins is not None else list(self._job.requests)
        if len(replies) != len(expected):
            raise wire.Malformed("The reply does not fit the job.")
        for position, pair in zip(expected, replies, strict=True):
            if not isinstance(pair, list) or len(pair) != 2 or pair[0] != position:
                raise wire.Malformed("The reply does not fit the job.")
            self._replies[position] = wire.as_reply(pair[1])
        self._defined = _names(message["defined"])

    def _listen_step_by_step(self, channel: socket.socket, limit: int, deadline: float) -> None:
        left = limit

        def hear(word: str, *fixed: Plain, more: int = 0) -> list[Plain]:
            nonlocal left
            data = wire.receive(channel, limit=left, deadline=deadline)
            left -= len(data)
            message = _read(data)
            expected = [word, *fixed]
            if not isinstance(message, list) or len(message) != len(expected) + more:
                raise wire.Malformed("A message does not fit the job.")
            head = message[: len(expected)]
            if any(type(one) is not type(two) or one != two for one, two in zip(head, expected, strict=True)):
                raise wire.Malformed("A message does not fit the job.")
            return message[len(expected) :]

        for position in range(len(self._job.cells)):
            self.step = ("cell", position)
            hear("cell", position)
            (problem,) = hear("ran", position, more=1)
            self._problems.append(None if problem is None else wire.as_problem(problem))
        self.step = None
        (problem,) = hear("stood in", more=1)
        if problem is not None:
            self.stand_ins = wire.as_problem(problem)
            return
        for position in self._job.requests:
            self.step = ("request", position)
            hear("request", position)
            (reply,) = hear("replied", position, more=1)
            self._replies[position] = wire.as_reply(reply)
        self.step = None
        (names,) = hear("done", more=1)
        self._defined = _names(names)


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

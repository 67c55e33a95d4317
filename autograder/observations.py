"""Plain data that crosses the trust boundary: what is asked of an answer, and what comes back.

Imports nothing of ours and nothing that runs code. Everything here can be written as JSON and safetensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

import torch

# What a probe may return and a request may carry. No objects, no code.
Plain = Union[None, bool, int, float, str, torch.Tensor, Sequence["Plain"], Mapping[str, "Plain"]]  # noqa: UP007


# Of an exception, as far as it is told: characters of its class, of its message and of a line, and how many lines.
KIND_LENGTH = 200
MESSAGE_LENGTH = 2_000
LINE_LENGTH = 300
LINES = 20


@dataclass(frozen=True)
class Request:
    """One question put to an answer: run `probe` with these arguments.

    exercise, check: whose question it is. probe: name of a function in the course's `probes.py`.
    arguments: plain data. seed: given to `torch.default_generator` before the probe runs.
    follow: names of arguments to be followed through the answer; those in `shown_only` are, but what is made of them
    alone is held against nothing. The reply then holds the steps on their way instead of what the probe returns.
    """

    exercise: str
    check: str
    probe: str
    arguments: Mapping[str, Plain]
    seed: int
    follow: tuple[str, ...] = ()
    shown_only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of the learner's own code that an exception passed through."""

    cell: int  # position among the submission's code cells, counted from 0; -1 when unknown
    number: int  # line within the cell, counted from 1
    text: str


@dataclass(frozen=True)
class Problem:
    """An exception in an answer: its class name, its message, the learner's own lines (outermost first)."""

    kind: str
    message: str
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What came back for one request: an observation, or the problem that prevented it."""

    value: Plain = None
    problem: Problem | None = None


@dataclass(frozen=True)
class Death:
    """An answer's process ended, hung or grew too large.

    reason: "time", "memory", "exit", "signal", "reply" (what it sent was malformed or too large).
    detail: for people, such as "SIGSEGV" or "exit code 3". step: ("cell", i) or ("request", i) that is to blame,
    None when that is not known. sure: False where the time of the whole process ran out in a step that had not used
    up its own: alone in a fresh process, it may well come to its end.
    """

    reason: str
    detail: str = ""
    step: tuple[str, int] | None = None
    sure: bool = True


@dataclass(frozen=True)
class Job:
    """What one child runs: cells in order, then requests of the plan (by their position in it).

    stand_ins: source that is run after the cells, to replace names. Requests of one exercise stand together.
    careful: one message per cell and per reply, so that a death is pinned to its step whatever the answer's code
    writes where. brief: each step gets less time, for an answer that has used up much of it.
    """

    cells: Sequence[str]
    requests: Sequence[int]
    stand_ins: str = ""
    careful: bool = False
    brief: bool = False


@dataclass(frozen=True)
class Outcome:
    """What one child did. problems: one entry per cell (None: ran). replies: by position in the plan.

    defined: names that stand in the answer's namespace afterwards and are callable. digests: by exercise, a digest of
    the bytes that held its replies, where they came in one piece.
    """

    problems: Sequence[Problem | None] = ()
    replies: Mapping[int, Reply] = field(default_factory=dict)
    defined: frozenset[str] = frozenset()
    death: Death | None = None
    digests: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """What a child may use. Seconds of CPU and of wall clock for the whole child, bytes, counts.

    step_seconds: of CPU for each cell, and for all requests of one exercise. A learner's code can take this limit away
    from itself, and then has what `cpu_seconds` leaves it.
    """

    cpu_seconds: int = 4
    step_seconds: float = 2.0
    wall_seconds: float = 15.0
    memory_bytes: int = 4 << 30
    processes: int = 64
    file_bytes: int = 4 << 20
    scratch_bytes: int = 16 << 20
    reply_bytes: int = 64 << 20
    open_files: int = 64

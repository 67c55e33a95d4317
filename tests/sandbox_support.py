"""What the tests of the sandbox share: probes, a short way to look at something inside, small limits."""

from __future__ import annotations

import atexit
import functools
import tempfile
from pathlib import Path
from typing import Any

import pytest

from autograder.observations import Death, Job, Limits, Outcome, Request
from autograder.sandbox import NoIsolation, Sandbox, open_sandbox

PROBES = '''
"""Probes of the tests."""
import torch


def look(names, expression):
    """What an expression is worth beside the answer."""
    return eval(expression, names)


def call(names, x):
    """What the answer makes of x, and what became of x itself."""
    return {"result": names["answer"](x), "x": x}


def draw(names):
    return torch.randn(3)


def _hidden(names):
    return None
'''

NAMESPACE = """
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
"""

# A loop that never ends is stopped soon, yet an honest job on a busy machine is not.
LIMITS = Limits(cpu_seconds=2, wall_seconds=15.0, memory_bytes=2 << 30, reply_bytes=4 << 20, scratch_bytes=2 << 20)


def write_probes(folder: Path) -> Path:
    """A file of the probes above."""
    path = folder / "probes.py"
    path.write_text(PROBES, encoding="utf-8")
    return path


def opened(folder: Path, *, unsandboxed: bool = False, limits: Limits = LIMITS) -> Sandbox:
    """A sandbox with the probes above; skips the test where isolation is not to be had."""
    try:
        return open_sandbox(write_probes(folder), limits=limits, unsandboxed=unsandboxed, namespace_code=NAMESPACE)
    except NoIsolation as problem:
        pytest.skip(f"This machine has no isolation: {problem}")


@functools.cache
def shared(*, unsandboxed: bool = False) -> Sandbox:
    """The same sandbox for all tests that leave it as it was: starting one takes seconds."""
    folder = tempfile.TemporaryDirectory(prefix="autograder-tests-")
    sandbox = opened(Path(folder.name), unsandboxed=unsandboxed)
    atexit.register(folder.cleanup)
    atexit.register(sandbox.close)
    return sandbox


def looked(sandbox: Sandbox, code: str, expression: str = "seen") -> Any:
    """The value of `expression` beside a cell of `code`. An exception in it is reported as a text."""
    sandbox.give_plan([Request("exercise", "check", "look", {"expression": expression}, 0)])
    outcome = sandbox.run(Job([code], [0]))
    assert outcome.death is None, outcome.death
    assert outcome.problems[0] is None, outcome.problems[0]
    reply = outcome.replies[0]
    return f"{reply.problem.kind}: {reply.problem.message}" if reply.problem else reply.value


def death(sandbox: Sandbox, code: str, *, careful: bool = True) -> Death | None:
    """How a child that runs a cell of `code` dies."""
    return ran(sandbox, code, careful=careful).death


def ran(sandbox: Sandbox, *cells: str, careful: bool = True) -> Outcome:
    """What comes of cells alone."""
    return sandbox.run(Job(list(cells), [], careful=careful))

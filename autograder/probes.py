"""Runs a probe beside an answer: in the isolated child, and in the learner's own notebook. It holds no secret.

A probe is a function of a course's `probes.py`. It gets the namespace in which an answer was defined, calls the answer,
and returns plain data. What it returns, or the exception that stopped it, becomes a `Reply`.
"""

from __future__ import annotations

import contextlib
import linecache
import traceback
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

import torch

from autograder import wire
from autograder.observations import (
    KIND_LENGTH,
    LINE_LENGTH,
    LINES,
    MESSAGE_LENGTH,
    Line,
    Plain,
    Problem,
    Reply,
    Request,
)
from autograder.tracing import Follower, line_of

Probe = Callable[..., Any]

STAND_INS = "<stand-ins>"  # the file name of the stand-ins: their lines are not the learner's
COURSE = "<course>"  # the file name of what a course puts into the namespace beforehand


class BadProbes(Exception):
    """The course's probes cannot be loaded. The message is a sentence."""


def load_probes(source: str | Path) -> dict[str, Probe]:
    """The public functions that a file of probes defines. `source` is the file's path, or its text.

    Raises BadProbes when the file cannot be read or run.
    """
    if isinstance(source, Path):
        try:
            return probes_in(source.read_text(encoding="utf-8"), str(source))
        except (OSError, UnicodeDecodeError) as problem:
            raise BadProbes(f"The probes cannot be read: {problem}.") from problem
    return probes_in(source, "<probes>")


def probes_in(text: str, filename: str) -> dict[str, Probe]:
    """The public functions that `text` defines; `filename` is what its lines are known by. Raises BadProbes."""
    module = types.ModuleType("probes")
    module.__file__ = filename
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    try:
        exec(compile(text, filename, "exec"), module.__dict__)
    except (Exception, SystemExit) as problem:
        raise BadProbes(f"The probes of {filename} raise {type(problem).__name__}: {problem}.") from problem
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, types.FunctionType) and value.__module__ == "probes" and not name.startswith("_")
    }


def observe(
    probes: Mapping[str, Probe],
    names: dict[str, Any],
    request: Request,
    *,
    cells: Mapping[str, int] | None = None,
    interruptible: bool = True,
) -> Reply:
    """Runs one probe beside the answer in `names`, after seeding `torch.default_generator` with the request's seed.

    The probe gets copies of the tensors among its arguments. What it returns is copied too, so that what runs later
    changes neither. cells: file name of compiled code -> position of its cell, for the lines of a problem.
    interruptible: a KeyboardInterrupt ends it, as in a notebook; otherwise it is a problem like any other.

    Raises KeyError when no such probe exists.
    """
    probe = probes[request.probe]
    arguments = {name: _fresh(value) for name, value in request.arguments.items()}
    try:
        torch.default_generator.manual_seed(request.seed)
        if request.follow or request.shown_only:
            return Reply(value=_followed(probe, names, request, arguments, cells))
        return Reply(value=wire.settle(probe(names, **arguments)))
    except BaseException as error:
        if interruptible and isinstance(error, KeyboardInterrupt):
            raise
        return Reply(problem=problem_of(error, names, cells))


def _followed(
    probe: Probe,
    names: dict[str, Any],
    request: Request,
    arguments: Mapping[str, Any],
    cells: Mapping[str, int] | None,
) -> Plain:
    """The steps on the way of the request's inputs through the answer, and the exception that ended it, if any."""
    follower = Follower(
        [one for name in request.follow for one in _tensors_in(arguments.get(name))],
        [one for name in request.shown_only for one in _tensors_in(arguments.get(name))],
        lambda frame: line_of(frame, names, (STAND_INS, COURSE)),
    )
    problem: Plain = None
    try:
        with follower:
            probe(names, **arguments)
    except Exception as error:
        problem = wire.plain_problem(problem_of(error, names, cells))
    return {"steps": follower.steps, "more": follower.more, "problem": problem}


def _tensors_in(value: Any) -> list[torch.Tensor]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return [one for part in value for one in _tensors_in(part)]
    return [value] if isinstance(value, torch.Tensor) else []


@contextlib.contextmanager
def randomness_kept() -> Iterator[None]:
    """Puts the state of PyTorch's random numbers back afterwards, so that a check changes nothing in a notebook."""
    state = torch.default_generator.get_state()
    try:
        yield
    finally:
        torch.default_generator.set_state(state)


def _fresh(value: Plain) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone(memory_format=torch.contiguous_format)
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {key: _fresh(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fresh(one) for one in value]
    return value


# --- Problems -------------------------------------------------------------------------------------------------------


def problem_of(
    error: BaseException, names: Mapping[str, Any] | None = None, cells: Mapping[str, int] | None = None
) -> Problem:
    """An exception as plain data, with those of its lines that the learner wrote. Never raises an Exception."""
    kind = str(type.__dict__["__name__"].__get__(type(error)))[:KIND_LENGTH]
    try:
        message = str.__str__(str(error.msg if _is_of_a_cell(error, cells or {}) else error))[:MESSAGE_LENGTH]
    except BaseException:
        message = ""
    try:
        lines = _own_lines(error, names, cells or {})
    except BaseException:
        lines = ()
    return Problem(kind, message, lines)


def _is_of_a_cell(error: BaseException, cells: Mapping[str, int]) -> TypeGuard[SyntaxError]:
    """A cell is no Python. Its line is told beside the message, its file name is ours."""
    return isinstance(error, SyntaxError) and error.filename in cells


def _own_lines(error: BaseException, names: Mapping[str, Any] | None, cells: Mapping[str, int]) -> tuple[Line, ...]:
    found: list[tuple[str, int]] = []
    for frame, number in traceback.walk_tb(error.__traceback__):
        filename = frame.f_code.co_filename
        ours = filename in (STAND_INS, COURSE)
        if filename in cells or (names is not None and frame.f_globals is names and not ours):
            found.append((filename, number))
    if _is_of_a_cell(error, cells) and error.lineno:
        found.append((str(error.filename), int(error.lineno)))
    if len(found) > LINES:  # a deep recursion
        found = found[: LINES // 2] + found[-(LINES - LINES // 2) :]
    return tuple(
        Line(cells.get(filename, -1), number, linecache.getline(filename, number).rstrip()[:LINE_LENGTH])
        for filename, number in found
    )

"""What the writer of a check uses: `stage`, and the fixtures `answer` and `draw`.

A check is a pytest function on the trusted side. It sees observations only, never an object of the learner's.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch

from autograder import comparing
from autograder.comparing import Difference
from autograder.course import CourseError
from autograder.interrupting import is_interrupt
from autograder.language import _
from autograder.observations import Plain, Problem, Reply, Request
from autograder.results import STAGES

Function = TypeVar("Function", bound=Callable[..., None])


class CheckFailed(Exception):
    """A rule does not hold. difference is for the learner.

    compared: False where there was nothing to compare: an exception was in the way, or no value of the right kind came.
    """

    def __init__(self, difference: Difference, *, compared: bool = True) -> None:
        super().__init__(difference.sentence)
        self.difference = difference
        self.compared = compared


class CheckBroken(CourseError):
    """A check raised what no check may raise: a mistake of the course, whatever the answer. The message says where."""


@dataclass(frozen=True)
class Stage:
    """What `@stage` says of a check."""

    name: str
    points: float
    hint: str
    of: str
    chapter: str
    report: bool = False
    blames: str = ""
    clears: str = ""


def stage(
    name: str,
    *,
    points: float,
    hint: str = "",
    of: str = "",
    chapter: str = "",
    report: bool = False,
    blames: str = "",
    clears: str = "",
) -> Callable[[Function], Function]:
    """Mark a pytest function as a check of this stage, worth `points`.

    name: one of `autograder.results.STAGES` except "loads", which the engine checks itself. hint: what to try.
    of: the function judged, where an exercise has several. chapter: to reread, where not the exercise's own.
    report: what does not hold is told and costs nothing: the check passes with a note. It has no points.
    blames, clears: for a check that sets one part apart. What its failure says of where the fault lies, and what it
    says that it passes: whole sentences, told where no misconception is known.
    """
    if report and points:
        raise ValueError("A report has no points: it judges nobody.")
    if name not in STAGES or name == "loads":
        raise ValueError(f"{name!r} is no stage of a check; the stages are {', '.join(STAGES[1:])}.")

    def mark(function: Function) -> Function:
        function.stage = Stage(name, float(points), hint, of, chapter, report, blames, clears)  # type: ignore[attr-defined]
        return function

    return mark


@dataclass(frozen=True)
class Rule:
    """A collected check: which exercise and function it judges, and the function to call."""

    exercise: str
    name: str
    sentence: str
    stage: Stage
    function: Callable[..., None]

    @property
    def of(self) -> str:
        """The function this check judges."""
        return self.stage.of or self.exercise

    def run(self, answer: Answer, draw: Draw) -> None:
        """Call the check. Raises `CheckFailed` where the rule does not hold, and `CheckBroken`."""
        wanted = self.function.__code__.co_varnames[: self.function.__code__.co_argcount]
        fixtures: dict[str, Any] = {"answer": answer, "draw": draw}
        try:
            self.function(**{name: fixtures[name] for name in wanted})
        except (CheckFailed, Pending):
            raise
        except BaseException as problem:  # SystemExit too: a check ends no run
            if is_interrupt(problem):
                raise KeyboardInterrupt from None
            what = ": ".join(part for part in (type(problem).__name__, str(problem)) if part)
            raise CheckBroken(
                f"The check {self.exercise}/{self.name} raises {what} ({self.place(problem)}). Mend the check and run "
                "`autograder verify`."
            ) from problem

    def place(self, problem: BaseException) -> str:
        """File and line of the check at which an exception passed it, the file from the course's folder on."""
        code = self.function.__code__
        folder = Path(code.co_filename).parent
        found = [(Path(code.co_filename), code.co_firstlineno)]
        for frame, line in traceback.walk_tb(problem.__traceback__):
            if Path(frame.f_code.co_filename).parent == folder:
                found.append((Path(frame.f_code.co_filename), line))
        path, line = found[-1]
        return f"{Path(*path.parts[-4:]).as_posix()}, line {line}"  # solutions/NAME/checks/test_EXERCISE.py


class Draw:
    """Inputs of a check: drawn from a seed on the first pass, then handed out again in the same order.

    `drawn` is None on the first pass, else what that pass drew.
    """

    def __init__(self, seed: int, name: str, drawn: Sequence[Plain] | None = None) -> None:
        digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=7).digest()
        self._generator = torch.Generator().manual_seed(int.from_bytes(digest, "big"))
        self._replayed = drawn
        self.drawn: list[Plain] = []

    def _next(self, make: Callable[[], Plain]) -> Any:
        if self._replayed is None:
            value = make()
        elif len(self.drawn) < len(self._replayed):
            value = self._replayed[len(self.drawn)]
        else:
            raise LookupError("A check drew more than it did on the pass over the reference.")
        self.drawn.append(value)
        return copied(value)  # so that no check changes what was drawn

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Standard normal numbers, of size 1 each."""
        return self._next(lambda: torch.randn(shape, generator=self._generator, dtype=torch.float64).to(dtype))  # type: ignore[no-any-return]

    def uniform(self, low: float, high: float, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Numbers spread evenly between low and high."""
        return self._next(  # type: ignore[no-any-return]
            lambda: (low + (high - low) * torch.rand(shape, generator=self._generator, dtype=torch.float64)).to(dtype)
        )

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Whole numbers from low to high - 1, int64."""
        return self._next(lambda: torch.randint(low, high, shape, generator=self._generator))  # type: ignore[no-any-return]

    def choice(self, options: Sequence[Plain]) -> Any:
        """One of the options."""
        return self._next(lambda: options[int(torch.randint(len(options), (), generator=self._generator))])

    def permutation(self, size: int) -> torch.Tensor:
        """The numbers 0 to size - 1 in another order than theirs (where size > 1), int64."""

        def make() -> torch.Tensor:
            order = torch.randperm(size, generator=self._generator)
            return order.roll(1) if size > 1 and bool((order == torch.arange(size)).all()) else order

        return self._next(make)  # type: ignore[no-any-return]

    def mask(self, *shape: int) -> torch.Tensor:
        """True (may look) and False, bool: along the last axis at least one True, and somewhere a False."""

        def make() -> torch.Tensor:
            mask = torch.rand(shape, generator=self._generator) < 0.6
            rows = mask.view(-1, shape[-1])
            kept = torch.randint(shape[-1], (rows.shape[0],), generator=self._generator)
            rows[torch.arange(rows.shape[0]), kept] = True
            if shape[-1] > 1 and bool(rows.all()):
                rows[0, (kept[0] + 1) % shape[-1]] = False
            return mask

        return self._next(make)  # type: ignore[no-any-return]


class Pending(Exception):
    """A check asked for something the reference has not been asked yet."""


class Replies(Protocol):
    """Where `answer.observe` finds what the learner's answer and the reference replied to a check's next request."""

    def next(self, request: Request) -> tuple[Reply, Reply]:
        """Learner's and reference's reply."""


class Answer:
    """The learner's answer, as a check sees it: something that can be observed."""

    def __init__(self, exercise: str, check: str, seed: int, replies: Replies) -> None:
        self._exercise, self._check, self._seed, self._replies = exercise, check, seed, replies
        self._asked = 0
        self.observed: list[Seen] = []

    def observe(self, probe: str, *, may_fail: bool = False, **arguments: Plain) -> Seen:
        """Run a probe beside the answer and beside the reference.

        Raises `CheckFailed` when the learner's code raised, unless `may_fail`.
        """
        digest = hashlib.blake2b(f"{self._seed}/{self._check}/{self._asked}".encode(), digest_size=4).digest()
        self._asked += 1
        request = Request(self._exercise, self._check, probe, arguments, int.from_bytes(digest, "big"))
        got, expected = self._replies.next(request)
        seen = Seen(request, got, expected)
        self.observed.append(seen)
        if got.problem is not None and not may_fail:
            raise CheckFailed(comparing.explain_problem(got.problem), compared=False)
        return seen


def copied(value: Plain) -> Any:
    """The same data in fresh containers and tensors: replies and draws are shared by all who are judged by them."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, Mapping):
        return {key: copied(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(one) for one in value]
    return value


class Seen:
    """The learner's observation beside the reference's, for one request.

    What it hands out is a copy, so that a check may write into it: other checks and other answers see what was there.
    """

    def __init__(self, request: Request, got: Reply, expected: Reply) -> None:
        self.request, self._got, self._expected = request, got, expected

    @property
    def problem(self) -> Problem | None:
        """The exception in the learner's code, None where there was none."""
        return self._got.problem

    @property
    def reference(self) -> Any:
        """The reference's observation, trusted."""
        return copied(self._expected.value)

    def _value(self, key: str) -> Any:
        if isinstance(self._got.value, Mapping) and key in self._got.value:
            return self._got.value[key]
        keys = list(self._got.value)[:20] if isinstance(self._got.value, Mapping) else []
        raise self._nothing(
            _("a value for `{key}`").format(key=key),
            _("none among {keys}").format(keys=", ".join(f"`{str(name)[:40]}`" for name in keys) or "–"),
        )

    def _expected_value(self, key: str) -> Any:
        return self._expected.value[key]  # type: ignore[call-overload, index]

    @staticmethod
    def _nothing(expected: str, got: str) -> CheckFailed:
        return CheckFailed(Difference(expected, got), compared=False)

    def tensor(self, key: str) -> torch.Tensor:
        """The learner's tensor. Raises `CheckFailed` where it is something else.

        A probe that found something else there says in a text what: "a list of 3".
        """
        return self._tensor(key).clone()

    def _tensor(self, key: str) -> torch.Tensor:
        value = self._value(key)
        if not isinstance(value, torch.Tensor):
            found = value[:80] if isinstance(value, str) else comparing.describe(value)
            raise self._nothing(_("a tensor for `{key}`").format(key=key), found)
        return value

    def number(self, key: str) -> float:
        """The learner's number. Raises `CheckFailed` where it is something else."""
        value = self._value(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._nothing(_("a number for `{key}`").format(key=key), comparing.describe(value))
        return value

    def text(self, key: str) -> str:
        """The learner's string. Raises `CheckFailed` where it is something else."""
        value = self._value(key)
        if not isinstance(value, str):
            raise self._nothing(_("a text for `{key}`").format(key=key), comparing.describe(value))
        return value

    def flag(self, key: str) -> bool:
        """The learner's True or False. Raises `CheckFailed` where it is something else."""
        value = self._value(key)
        if not isinstance(value, bool):
            raise self._nothing(_("True or False for `{key}`").format(key=key), comparing.describe(value))
        return value

    def same_shape(self, *keys: str, axes: str = "") -> None:
        """The tensor has the reference's shape, and was made from the input: neither handed back nor one number."""
        for key in keys:
            difference = comparing.compare_shape(
                key, self._tensor(key), self._expected_value(key), axes.split(), self.request.arguments
            )
            if difference is not None:
                raise CheckFailed(difference)

    def same(self, *keys: str, axes: str = "", mask: torch.Tensor | None = None) -> None:
        """Shape and values are the reference's, within the course's tolerance.

        mask: False or 0 where nothing may be seen, so that a difference there alone is told as such. It broadcasts.
        """
        for key in keys:
            forbidden = None if mask is None else (mask == 0).expand_as(self._expected_value(key))
            difference = comparing.compare_tensor(
                key, self._tensor(key), self._expected_value(key), axes.split(), forbidden
            )
            if difference is not None:
                raise CheckFailed(difference)

    def same_plain(self, *keys: str) -> None:
        """Numbers, strings, lists and dicts are equal to the reference's."""
        for key in keys:
            difference = comparing.compare_plain(key, self._value(key), self._expected_value(key))
            if difference is not None:
                raise CheckFailed(difference)

    def law(self, holds: bool, *, expected: str, got: str, advice: str = "") -> None:
        """A rule that needs no reference. The texts are shown when it does not hold."""
        if not holds:
            raise CheckFailed(Difference(expected, got, advice))

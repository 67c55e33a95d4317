"""The learner's way through an exercise beside ways that are known to be right: which line leaves them?

What is known are numbers alone, those that right answers meet on their way. A step is on a right way when its numbers
are among them, whatever the order of its axes, and however whole axes are joined. Marked is only what there is evidence
for: a line whose numbers nobody's right answer meets, made from such as they do, and from which nothing comes back
to them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from autograder import comparing
from autograder.course import CourseError, Trace
from autograder.observations import Plain, Problem, Reply, Request
from autograder.recordings import Recording
from autograder.tracing import INPUT

HUGE = 1e4  # to a softmax, -1e9, -inf and the lowest float32 are the same
LONGEST_WAY = 5  # axes whose orders are tried: 120


# -- axes -------------------------------------------------------------------------------------------------------------


def axis_sizes(trace: Trace, arguments: Mapping[str, Plain]) -> dict[str, int]:
    """Size of each axis by name, read off a request's arguments."""
    sizes: dict[str, int] = {}
    for name, axes in trace.inputs.items():
        value = arguments.get(name)
        if isinstance(value, torch.Tensor):
            sizes.update(zip(reversed(axes.split()), reversed(value.shape), strict=False))
        elif isinstance(value, int) and axes:
            sizes[axes] = value
    for axis, parts in trace.joined.items():
        unknown = [part for part in parts if part not in sizes]
        known = math.prod(sizes[part] for part in parts if part in sizes)
        if not unknown:
            sizes.setdefault(axis, known)
        elif len(unknown) == 1 and axis in sizes and known and sizes[axis] % known == 0:
            sizes[unknown[0]] = sizes[axis] // known
    return sizes


def name_axes(shape: Sequence[int], sizes: Mapping[str, int]) -> list[str]:
    """A name for each axis: `h`, or `B·h` where two were joined, or the number itself where no name fits."""
    free = dict(sizes)
    names = []
    for size in shape:
        name = next((axis for axis, one in free.items() if one == size and size > 1), None)
        if name is not None:
            del free[name]
        else:
            pairs = (f"{a}·{b}" for (a, m), (b, n) in itertools.combinations(sizes.items(), 2) if m * n == size > 1)
            again = (axis for axis, one in sizes.items() if one == size > 1)
            name = next(itertools.chain(again, pairs), str(size))
        names.append(name)
    return names


def trace_request(recording: Recording, check: str, trace: Trace) -> Request:
    """The check's first request, asking for the steps. Raises `CourseError` where the course has no such check."""
    if check not in recording.takes:
        raise CourseError(f"A trace names the check {check}, which the course lacks.")
    return replace(
        recording.takes[check].requests[0],
        follow=tuple(name for name, axes in trace.inputs.items() if axes),
        shown_only=trace.shown_only,
    )


# -- what right answers meet ------------------------------------------------------------------------------------------


def gather(replies: Iterable[Any]) -> list[torch.Tensor]:
    """Numbers that right answers met, from the replies to followed requests; each once, lines and names left out."""
    found: list[torch.Tensor] = []
    for reply in replies:
        for step in reply["steps"]:
            for value in step["values"]:
                if _tells(value) and not any(
                    value.shape == other.shape and bool(comparing.close(_settled(value), _settled(other)).all())
                    for other in found
                ):
                    found.append(value)
    return found


def _tells(value: Any) -> bool:
    """Numbers that say where an answer stands: more than two different ones, or else they may be a mask's."""
    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.numel() > 1
        and len(set(value.flatten().tolist())) > 2
    )


def _settled(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.double()
    return torch.where(tensor.abs() >= HUGE, tensor.sign() * math.inf, tensor)


@dataclass(frozen=True)
class Known:
    """Numbers on a right way, on their smallest axes: a d_model is cut into h and d_k."""

    numbers: torch.Tensor
    ordered: torch.Tensor


class Ways:
    """The numbers that right answers meet, ready to be asked about."""

    def __init__(self, known: Sequence[torch.Tensor], trace: Trace, sizes: Mapping[str, int]) -> None:
        self._known: dict[int, list[Known]] = {}
        for tensor in known:
            self._add(_settled(tensor).reshape(self._smallest(tensor.shape, trace, sizes)))

    @staticmethod
    def _smallest(shape: Sequence[int], trace: Trace, sizes: Mapping[str, int]) -> list[int]:
        names = name_axes(shape, sizes)
        cut = [
            [sizes[part] for part in trace.joined[name]] if name in trace.joined else [size]
            for name, size in zip(names, shape, strict=True)
        ]
        return [size for parts in cut for size in parts if size > 1]

    def _add(self, numbers: torch.Tensor, slices: int = 2) -> None:
        self._known.setdefault(numbers.numel(), []).append(Known(numbers, numbers.flatten().sort().values))
        if slices and numbers.dim() > 1:
            for axis in range(numbers.dim()):
                for one in numbers.unbind(axis):
                    self._add(one, slices - 1)

    def met(self, value: torch.Tensor) -> bool:
        """Right answers meet these numbers, in whatever order of axes, and whatever axes are joined."""
        value = _settled(value)
        ordered = value.flatten().sort().values
        sizes = [size for size in value.shape if size > 1]
        return any(
            bool(comparing.close(ordered, known.ordered).all()) and self._same(value, sizes, known.numbers)
            for known in self._known.get(value.numel(), ())
        )

    @staticmethod
    def _same(value: torch.Tensor, sizes: Sequence[int], known: torch.Tensor) -> bool:
        if known.dim() > LONGEST_WAY:
            return False
        return any(
            _joins(sizes, [known.shape[axis] for axis in order])
            and bool(comparing.close(value, known.permute(order).reshape(value.shape)).all())
            for order in itertools.permutations(range(known.dim()))
        )


def _joins(sizes: Sequence[int], parts: Sequence[int]) -> bool:
    """Each size is that of one part, or of several that stand side by side."""
    rest = iter(parts)
    for size in sizes:
        product = 1
        while product < size:
            product *= next(rest, size + 1)
        if product != size:
            return False
    return next(rest, None) is None


# -- the learner's way ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One operation of the learner's own code. axes: names of the result's axes. count: how many tensors it gave."""

    function: str
    line: int
    text: str
    operation: str
    shape: Sequence[int]
    axes: Sequence[str]
    dtype: str
    count: int = 1
    leaves: bool = False


@dataclass(frozen=True)
class Traced:
    """The learner's way through one request.

    inputs: shape and axes by name. wrong: the result is. problem: the exception that ended it. more: steps left out.
    unfinished: every step is on a right way, and there are fewer than to its end.
    """

    exercise: str
    inputs: Mapping[str, tuple[Sequence[int], Sequence[str]]]
    steps: Sequence[Step]
    wrong: bool
    more: bool = False
    problem: Problem | None = None
    unfinished: bool = False

    @property
    def leaves(self) -> Step | None:
        """The step where the numbers leave every right way, None where there is no evidence for one."""
        return next((step for step in self.steps if step.leaves), None)


def traced(
    request: Request,
    reply: Any,
    trace: Trace,
    known: Sequence[torch.Tensor],
    wrong: bool,
    result: Reply,
    expected: Reply,
) -> Traced:
    """The learner's reply to a followed request, beside what right answers meet. A right result is never marked.

    result, expected: what the learner and the reference reply to the same request when it is not followed.
    """
    sizes = axis_sizes(trace, request.arguments)
    steps = [
        Step(
            function=step["function"],
            line=step["line"],
            text=step["text"],
            operation=step["operation"],
            shape=tuple(step["shape"]),
            axes=name_axes(step["shape"], sizes),
            dtype=step["dtype"],
            count=len(step["values"]),
        )
        for step in reply["steps"]
    ]
    unfinished = False
    if wrong and known:
        ways = Ways(known, trace, sizes)
        leaving = first_to_leave(reply["steps"], ways)
        if leaving is None:
            unfinished = _ends_early(reply["steps"], ways, result.value, expected.value)
        else:
            steps[leaving] = replace(steps[leaving], leaves=True)
    inputs = {
        name: (tuple(value.shape), name_axes(value.shape, sizes))
        for name, value in request.arguments.items()
        if isinstance(value, torch.Tensor) and name in (*request.follow, *request.shown_only)
    }
    return Traced(request.exercise, inputs, steps, wrong, bool(reply["more"]), result.problem, unfinished)


def _ends_early(steps: Sequence[Any], ways: Ways, result: Plain, expected: Plain) -> bool:
    """The last step is on a right way, but not at its end, and what is returned has the right shapes.

    Numbers of the end in another order are not taken for a way that is too short.
    """
    wanted = list(_tensors(expected))
    if not steps or [one.shape for one in _tensors(result)] != [one.shape for one in wanted]:
        return False
    last = steps[-1]["values"]
    return all(
        _tells(value) and ways.met(value) and not any(_same_numbers(value, end) for end in wanted) for value in last
    )


def _same_numbers(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.numel() == other.numel() and bool(
        comparing.close(one.flatten().sort().values, other.flatten().sort().values).all()
    )


def _tensors(value: Plain) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _tensors(value[key])
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)


def first_to_leave(steps: Sequence[Any], ways: Ways) -> int | None:
    """The first step whose numbers no right answer meets, and from which nothing comes back to those they do meet."""
    makers = [_makers(steps, position) for position in range(len(steps))]
    held: dict[int, bool] = {}  # what can be held against anything: whether right answers meet it
    for position, step in enumerate(steps):
        telling = [value for value in step["values"] if _tells(value)]
        if telling and len(telling) == len(step["values"]):
            held[position] = all(ways.met(value) for value in telling)
    back: set[int] = set()
    for position in sorted(held, reverse=True):
        if held[position]:
            back |= _ancestors(position, makers)
    for position, step in enumerate(steps):
        if held.get(position) is False and position not in back and _from_inputs(position, makers):
            before = [one for one in step["made_from"] if one >= 0]
            if all(held.get(one, True) or one in back for one in before):
                return position
    return None


def _makers(steps: Sequence[Any], position: int) -> set[int]:
    """Steps a step was made from: any before it, where it came from nowhere (NumPy, an empty tensor to fill)."""
    sources = set(steps[position]["made_from"])
    return sources or set(range(position))


def _ancestors(position: int, makers: Sequence[set[int]]) -> set[int]:
    found: set[int] = set()
    waiting = [position]
    while waiting:
        for one in makers[waiting.pop()]:
            if one >= 0 and one not in found:
                found.add(one)
                waiting.append(one)
    return found


def _from_inputs(position: int, makers: Sequence[set[int]]) -> bool:
    return INPUT in makers[position] or any(INPUT in makers[one] for one in _ancestors(position, makers))


def by_line(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Steps of one line that follow each other, together."""
    for _, group in itertools.groupby(steps, key=lambda step: (step.function, step.line)):
        yield list(group)

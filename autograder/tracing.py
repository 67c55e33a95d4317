"""Follows inputs through an answer: which line of the learner's own code made what. Child side, holds no secret.

A `Follower` watches every PyTorch operation that a probe's call sets off, and keeps those that a line of the learner's
made on the way from the inputs: the line, the result's shape, its numbers, and the steps it was made from.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from autograder.observations import Line, Plain

STEPS = 200  # of a loop without end, the first ones are told
NUMBERS = 4096  # of a larger tensor, only the shape is told

INPUT = -1  # stands for an input where steps are counted from 0
SHOWN_ONLY = -2  # stands for an input of which nothing that is made of it alone is held against a right answer
_SHOWN = {"__getitem__": "[...]", "__setitem__": "[...] ="}


class Follower(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
    """Within this block, what is made of `inputs` is written down in `steps`.

    own: the learner's line behind a frame, or None where the frame is not of the learner's code.
    """

    def __init__(
        self,
        inputs: Sequence[torch.Tensor],
        shown_only: Sequence[torch.Tensor],
        own: Callable[[Any], Line | None],
    ) -> None:
        super().__init__()
        self._own = own
        self._kept: list[torch.Tensor] = [*inputs, *shown_only]  # alive, so that no other tensor gets their id
        self._makers: dict[int, set[int]] = {id(one): {INPUT} for one in inputs}
        self._makers.update({id(one): {SHOWN_ONLY} for one in shown_only})
        self.steps: list[dict[str, Plain]] = []
        self.more = False

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run the operation, then write down what it made."""
        result = func(*args, **(kwargs or {}))
        try:
            self._write_down(func, [*args, *(kwargs or {}).values()], result)
        except Exception:  # a tensor of a kind that cannot be read: the learner's code goes on all the same
            self.more = True
        return result

    def _write_down(self, func: Any, arguments: Sequence[Any], result: Any) -> None:
        name = _name(func)
        made = list(_tensors(result))
        if not made and name == "[...] =":
            made = list(_tensors(arguments[0]))
        if not made:
            return
        sources = {maker for one in _tensors(arguments) for maker in self._makers.get(id(one), ())}
        where = self._line() if sources or self.steps else None
        if where is not None and len(self.steps) < STEPS:
            first = made[0]
            self.steps.append(
                {
                    "function": where[0],
                    "line": where[1].number,
                    "text": where[1].text.strip(),
                    "operation": name,
                    "shape": list(first.shape),
                    "dtype": str(first.dtype).removeprefix("torch."),
                    "made_from": sorted(sources),
                    "values": [_numbers(one) for one in made[:16]],
                }
            )
            sources = {len(self.steps) - 1}
        elif where is not None:
            self.more = True
        if sources:
            for one in made:
                self._makers[id(one)] = sources
                self._kept.append(one)

    def _line(self) -> tuple[str, Line] | None:
        frame: FrameType | None = sys._getframe(1)
        line: Line | None = None
        while frame is not None:
            line = line or self._own(frame)
            if line is not None and not frame.f_code.co_name.startswith("<"):  # a comprehension stands in a function
                return frame.f_code.co_name, line
            frame = frame.f_back
        return None


def _name(func: Any) -> str:
    name = getattr(func, "__name__", "") or ""
    if name == "__get__":  # a property such as .T
        name = (resolve_name(func) or "").removesuffix(".__get__").rpartition(".")[2]
    return _SHOWN.get(name, name.strip("_"))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)


def _numbers(tensor: torch.Tensor) -> Plain:
    if (
        tensor.device.type == "meta"
        or tensor.numel() > NUMBERS
        or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    ):
        return None
    return tensor.detach().clone(memory_format=torch.contiguous_format)


def line_of(frame: Any, names: Mapping[str, Any], not_theirs: Sequence[str]) -> Line | None:
    """The learner's line that a frame stands at; None where the code is not the learner's."""
    filename = frame.f_code.co_filename
    if frame.f_globals is not names or filename in not_theirs:
        return None
    return Line(-1, frame.f_lineno, linecache.getline(filename, frame.f_lineno).rstrip()[:300])

"""Observation against observation: are they equal, and if not, where and how, in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from autograder import classics
from autograder.language import _
from autograder.observations import Plain, Problem, Reply

ABSOLUTE_TOLERANCE = 1e-5  # times the largest expected magnitude where that is above 1
RELATIVE_TOLERANCE = 1e-4
LARGEST_PICTURE = 8  # rows and columns of a table that is shown


@dataclass(frozen=True)
class Difference:
    """Why a rule does not hold: what was expected, what came, what to try, and a small table where one helps.

    cause: what can be said for certain of how it came about, told at once. advice: opened when that was not enough.
    rule_helps: False where nothing came that could be held against the rule, so that its hint is about other things.
    """

    expected: str
    got: str
    advice: str = ""
    picture: Mapping[str, Any] | None = None
    cause: str = ""
    rule_helps: bool = True

    @property
    def sentence(self) -> str:
        """Expected and got as one message."""
        return _("Expected {expected}. Got {got}.").format(expected=self.expected, got=self.got)

    @property
    def message(self) -> str:
        """The sentence, and the cause below it."""
        return f"{self.sentence}\n\n{self.cause}" if self.cause else self.sentence


def close(got: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Per element: within the course's tolerance. The shapes must be equal; NaN is close to NaN only."""
    if expected.is_floating_point() or got.is_floating_point():
        got, expected = got.double(), expected.double()
        finite = expected[expected.isfinite()]
        largest = float(finite.abs().max()) if finite.numel() else 0.0
        return torch.isclose(
            got, expected, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE * max(1.0, largest), equal_nan=True
        )
    return got == expected


def is_complex_or_odd(tensor: torch.Tensor) -> bool:
    """Kinds of numbers that no exercise returns and that comparison does not take."""
    return tensor.is_complex() or tensor.is_quantized or tensor.layout is not torch.strided


def equal(one: Plain, other: Plain) -> bool:
    """Two observations agree: same structure, shapes and kinds of numbers, values within tolerance. Never raises."""
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
            return False
        if one.shape != other.shape or one.dtype != other.dtype or is_complex_or_odd(one):
            return False
        return bool(close(one, other).all())
    if isinstance(one, Mapping):
        return isinstance(other, Mapping) and one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    if isinstance(one, (str, bytes)) or isinstance(other, (str, bytes)):
        return one == other
    if isinstance(one, Sequence):
        return (
            isinstance(other, Sequence)
            and len(one) == len(other)
            and all(equal(a, b) for a, b in zip(one, other, strict=True))
        )
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return math.isclose(one, other, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)
    return False


def equal_replies(one: Reply, other: Reply) -> bool:
    """Two replies agree: the same observation, or the same exception with the same message."""
    if one.problem is not None or other.problem is not None:
        if one.problem is None or other.problem is None:
            return False
        return (one.problem.kind, one.problem.message) == (other.problem.kind, other.problem.message)
    return equal(one.value, other.value)


def describe(value: Plain) -> str:
    """What a value is, in a few words."""
    if value is None:
        return _("None")
    if isinstance(value, torch.Tensor):
        return _("a tensor of shape {shape}").format(shape=show_shape(value.shape))
    if isinstance(value, Mapping):
        return _("a dict with the keys {keys}").format(keys=", ".join(map(str, list(value)[:10])) or "–")
    if isinstance(value, str):
        return _("the text {text}").format(text=repr(value[:80]))
    if isinstance(value, Sequence):
        return _("{text}").format(text=str(list(value))[:120])
    return str(value)[:80]


def show_shape(shape: Sequence[int], axes: Sequence[str] = ()) -> str:
    """`(2, 3, 5)`, or `(2, 3, 5) = (B, h, T)` with named axes."""
    sizes = "(" + ", ".join(str(size) for size in shape) + ("," if len(shape) == 1 else "") + ")"
    if len(axes) != len(shape) or not axes:
        return sizes
    return f"{sizes} = ({', '.join(axes)})"


def show_number(number: float) -> str:
    """A number as a person would write it: four digits that matter; whole numbers and truth values as they are."""
    return f"{number:.4g}" if type(number) is float else str(number)


def name_axes(shape: Sequence[int], expected: Sequence[int], axes: Sequence[str]) -> Sequence[str]:
    """The learner's axes named as they read them, by following sizes; () where a size is not told apart.

    A size that several axes share tells its axes apart only where it stands in the same places.
    """
    if len(axes) != len(expected):
        return ()
    for size in set(expected):
        if expected.count(size) > 1 and _places(size, shape) != _places(size, expected):
            return ()
    names: dict[int, list[str]] = {}
    for size, axis in zip(expected, axes, strict=True):
        names.setdefault(size, []).append(axis)
    found = []
    for size in shape:
        if not names.get(size):
            return ()
        found.append(names[size].pop(0))
    return found


def _places(size: int, shape: Sequence[int]) -> list[int]:
    """Where this size stands in a shape."""
    return [place for place, other in enumerate(shape) if other == size]


def compare_shape(
    key: str,
    got: torch.Tensor,
    expected: torch.Tensor,
    axes: Sequence[str],
    arguments: Mapping[str, Plain],
) -> Difference | None:
    """None where the shape is right and the tensor was made from the input."""
    if got.shape != expected.shape:
        return shape_difference(key, got.shape, expected.shape, axes)
    if is_complex_or_odd(got):
        return Difference(_("real numbers in `{key}`").format(key=key), str(got.dtype))
    if (
        got.numel() > 1
        and (bool((got == got.flatten()[0]).all()) or bool(got.isnan().all()))
        and not bool((expected == expected.flatten()[0]).all())
    ):
        if got.is_floating_point() and not bool(got.isfinite().any()) and bool(expected.isfinite().all()):
            return _not_finite(key, _("{number} everywhere").format(number=show_number(got.flatten()[0].item())))
        return Difference(
            _("numbers in `{key}` that depend on the input").format(key=key),
            _("{number} everywhere").format(number=show_number(got.flatten()[0].item())),
            _("The shape is right. Now fill it from the input."),
        )
    for name, value in arguments.items():
        if (
            isinstance(value, torch.Tensor)
            and value.shape == got.shape
            and value.dtype == got.dtype
            and bool((got == value).all())
            and not bool((expected == value).all())
        ):
            return Difference(
                _("a `{key}` made from the input").format(key=key),
                _("`{name}` handed back unchanged").format(name=name),
                _("The shape is right, but nothing has been computed yet."),
            )
    return None


def shape_difference(key: str, got: Sequence[int], expected: Sequence[int], axes: Sequence[str]) -> Difference:
    """Two shapes that differ, the learner's axes named where sizes tell them apart."""
    named = name_axes(got, expected, axes)
    cause = ""
    ones_apart = [size for size in got if size != 1] == [size for size in expected if size != 1]
    if ones_apart and len(got) == len(expected):
        words = _("An axis of size 1 stands in the wrong place: expected at {expected}, got at {got}, counted from 0.")
        cause = words.format(
            expected=", ".join(map(str, _places(1, expected))), got=", ".join(map(str, _places(1, got)))
        )
    elif ones_apart and len(got) < len(expected):
        cause = _("Only an axis of size 1 is missing. `unsqueeze` puts one in.")
    elif ones_apart and len(got) > len(expected):
        cause = _("There is an axis of size 1 too many.")
    elif (axis := _joins(got, expected)) is not None:
        words = _("Your axes {a} and {b}, {m} and {n} long, are to be one axis of {product}.")
        cause = words.format(a=axis, b=axis + 1, m=got[axis], n=got[axis + 1], product=expected[axis])
    elif (axis := _joins(expected, got)) is not None:
        words = _("Your axis {a}, {product} long, is to be cut into two: {m} and {n}.")
        cause = words.format(a=axis, product=got[axis], m=expected[axis], n=expected[axis + 1])
    elif sorted(got) == sorted(expected):
        cause = _("The sizes are right, their order is not. Which two axes have to change places?")
    elif math.prod(got) == math.prod(expected):
        cause = _("The number of elements is right, but they are grouped into other axes.")
    elif len(got) != len(expected):
        cause = _("Expected {expected} axes, got {got}.").format(expected=len(expected), got=len(got))
    return Difference(
        _("`{key}` of shape {shape}").format(key=key, shape=show_shape(expected, axes)),
        _("shape {shape}").format(shape=show_shape(got, named)),
        cause=cause,
    )


def _joins(parts: Sequence[int], whole: Sequence[int]) -> int | None:
    """The axis of `parts` that makes `whole` when it is joined with the next one; None where none does."""
    for axis in range(len(parts) - 1):
        if [*parts[:axis], parts[axis] * parts[axis + 1], *parts[axis + 2 :]] == list(whole):
            return axis
    return None


def compare_tensor(
    key: str, got: torch.Tensor, expected: torch.Tensor, axes: Sequence[str], forbidden: torch.Tensor | None = None
) -> Difference | None:
    """None where shape and values agree; otherwise where they differ, on the learner's own axes.

    forbidden: where a mask forbids (it broadcasts to the tensor), so that a difference there alone is told as such.
    """
    if got.shape != expected.shape:
        return shape_difference(key, got.shape, expected.shape, axes)
    if is_complex_or_odd(got):
        return Difference(_("real numbers in `{key}`").format(key=key), str(got.dtype))
    right = close(got, expected)
    if bool(right.all()):
        return None
    if expected.is_floating_point() and got.is_floating_point():
        strange = ~got.isfinite() & expected.isfinite()
        if bool(strange.any()):
            where = place(strange, axes)
            came = _("{number} at {where}").format(number=show_number(got[first(strange)].item()), where=where)
            return _not_finite(key, came, picture(got, expected, right, axes))
    wrong = ~right
    index = first(wrong)
    return Difference(
        _("{number} in `{key}` at {where}").format(
            number=show_number(expected[index].item()), key=key, where=place(wrong, axes)
        ),
        common_place(wrong, axes, forbidden).format(
            number=show_number(got[index].item()), wrong=int(wrong.sum()), all=wrong.numel()
        ),
        picture=picture(got, expected, right, axes),
        cause=pattern(got, expected),
    )


def _not_finite(key: str, got: str, shown: Mapping[str, Any] | None = None) -> Difference:
    """Numbers that are inf or NaN where ordinary ones were expected, and what makes such numbers."""
    return Difference(
        _("finite numbers in `{key}`").format(key=key),
        got,
        _(
            "In float32 `exp` of a number above 89 is inf, and of one below -104 it is 0; inf / inf and 0 / 0 are nan. "
            "Subtract each row's largest score before `exp`, or let `softmax` do it.\n\nIs there another division by "
            "zero, or a softmax over a row that holds only -inf?"
        ),
        shown,
    )


def first(where: torch.Tensor) -> tuple[int, ...]:
    """Index of the first True."""
    return tuple(int(i) for i in where.nonzero()[0])


def place(where: torch.Tensor, axes: Sequence[str]) -> str:
    """The first True, on named axes: `[B 0, h 1, T 2]`."""
    index = first(where)
    if len(axes) != len(index):
        return str(list(index))
    named = (f"{axis} {i}" for axis, i in zip(axes, index, strict=True) if not axis.isdigit())  # an axis of size 1
    return "[" + ", ".join(named) + "]"


def common_place(wrong: torch.Tensor, axes: Sequence[str], forbidden: torch.Tensor | None = None) -> str:
    """What the differences share, as a text with places for {number}, {wrong} and {all}.

    Told is the first that holds: only where a mask forbids, or only where it allows; all at one position of an axis;
    all from a position of an axis on; nothing. Others on that axis are right.
    """
    if forbidden is not None and bool(forbidden.any()) and not bool(forbidden.all()):
        if not bool((wrong & ~forbidden).any()):
            return _("{number} there; {wrong} of {all} numbers differ, only where the mask forbids")
        if not bool((wrong & forbidden).any()):
            return _("{number} there; {wrong} of {all} numbers differ, only where the mask allows")
    touched = [
        [int(i) for i in (wrong.movedim(axis, 0).flatten(1).any(dim=1) if wrong.dim() > 1 else wrong).nonzero()]
        for axis in range(wrong.dim())
    ]
    names = [
        axes[axis] if len(axes) == wrong.dim() else _("axis {axis}").format(axis=axis) for axis in range(wrong.dim())
    ]
    for name, size, places in zip(names, wrong.shape, touched, strict=True):
        if size > 1 and len(places) == 1:
            return _filled(
                _("{number} there; {wrong} of {all} numbers differ, all of them at {name} {position}"), name, places[0]
            )
    for name, size, places in zip(names, wrong.shape, touched, strict=True):
        if places[0] > 0 and places == list(range(places[0], size)):
            return _filled(
                _("{number} there; {wrong} of {all} numbers differ, all of them from {name} {position} on"),
                name,
                places[0],
            )
    return _("{number} there; {wrong} of {all} numbers differ")


def _filled(text: str, name: str, position: int) -> str:
    """The text with two of its places filled in, the others left for later."""
    return text.replace("{name}", name).replace("{position}", str(position))


def pattern(got: torch.Tensor, expected: torch.Tensor) -> str:
    """What all the numbers have in common with the expected ones, "" where nothing: a factor, a sum, another order."""
    if not (got.is_floating_point() and expected.is_floating_point()) or got.numel() < 3:
        return ""
    one, other = got.double().flatten(), expected.double().flatten()
    if not bool(one.isfinite().all() & other.isfinite().all()):
        return ""
    telling = other.abs() > 1e-3 * float(other.abs().max())  # a number near 0 has no factor to tell
    factors = one[telling] / other[telling]
    factor = float(factors.median()) if factors.numel() > 2 else 0.0
    if factor and bool(close(got, expected * factor).all()):
        return _("Every number is {factor} times the expected one.").format(factor=show_number(factor))
    shift = float((one - other).median())
    if bool(close(got, expected + shift).all()):
        return _("Every number is the expected one plus {shift}.").format(shift=show_number(shift))
    if bool(close(one.sort().values, other.sort().values).all()):
        return _("All the expected numbers are there, in other places.")
    return ""


def picture(
    got: torch.Tensor, expected: torch.Tensor, right: torch.Tensor, axes: Sequence[str]
) -> Mapping[str, Any] | None:
    """The last two axes around the first difference as a small table of expected beside got."""
    if expected.dim() < 1 or expected.shape[-1] > 4 * LARGEST_PICTURE:
        return None
    index = first(~right)[:-2] if expected.dim() > 1 else ()
    tables = [tensor[index] if index else tensor for tensor in (expected, got, ~right)]
    if expected.dim() == 1:
        tables = [table.unsqueeze(0) for table in tables]
    cut = [table[:LARGEST_PICTURE, :LARGEST_PICTURE] for table in tables]
    named = len(axes) == expected.dim()
    labels = ["" if axis.isdigit() else axis for axis in axes] if named else []  # "1" names no axis but its size
    at = [f"{axis} {i}" for axis, i in zip(labels, index, strict=False) if axis] if named else [str(i) for i in index]
    return {
        "kind": "table",
        "at": at,
        "row_label": labels[-2] if named and expected.dim() > 1 else "",
        "column_label": labels[-1] if named else "",
        "expected": [[show_number(value) for value in row] for row in cut[0].tolist()],
        "got": [[show_number(value) for value in row] for row in cut[1].tolist()],
        "differs": cut[2].tolist(),
        "cut": tables[0].shape[0] > LARGEST_PICTURE or tables[0].shape[1] > LARGEST_PICTURE,
    }


def compare_plain(key: str, got: Plain, expected: Plain) -> Difference | None:
    """None where plain values agree. Lists and tuples of the same items are the same."""
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for name, value in expected.items():
            if name not in got:
                return Difference(_("the key `{name}` in `{key}`").format(name=name, key=key), describe(got))
            if not equal(got[name], value):
                return Difference(_("`{name}` = {value}").format(name=name, value=_shown(value)), _shown(got[name]))
        return None
    if equal(got, expected):
        return None
    return Difference(
        _("`{key}` = {value}").format(key=key, value=_shown(expected)),
        _shown(got),
        cause=_("The sizes are right, but `/` makes floats of them. `//` keeps whole numbers.")
        if _whole_but_for_their_kind(got, expected)
        else "",
    )


def _whole_but_for_their_kind(got: Plain, expected: Plain) -> bool:
    """Lists of the same numbers, where whole ones were expected and some of ours came as the text of a float."""
    if not isinstance(got, list) or not isinstance(expected, list) or len(got) != len(expected):
        return False
    return all(one == other or one == f"{other}.0" for one, other in zip(got, expected, strict=True))


def _shown(value: Plain) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "(" + ", ".join(str(item)[:40] for item in value[:12]) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return describe(value)


def explain_problem(problem: Problem) -> Difference:
    """An exception in words, with the learner's own last line."""
    line = problem.lines[-1] if problem.lines else None
    if line and problem.kind == "NotImplementedError" and not problem.message.strip():
        got = _("the stub, not written yet, in your line {number}").format(number=line.number)
        advice = _("Replace the line `raise NotImplementedError()` by your answer.")
        return Difference(_("an answer"), got, advice, rule_helps=False)
    message = problem.message.strip().splitlines()[0][:300].rstrip(".") if problem.message.strip() else ""
    if line is None and problem.kind == "TypeError" and re.search(" returned .+, not ", message):  # by a probe
        function, __, rest = message.partition(" returned ")
        got, __, wanted = rest.partition(", not ")
        advice = _(
            "Look at the `return` of your function: is it there (`print` only shows), and does it return what the "
            "docstring says?"
        )
        if got.startswith("a list of") and wanted == "a tensor":
            advice += "\n\n" + _("`torch.stack` and `torch.cat` make one tensor of a list of them.")
        expected = _("{wanted} from {function}").format(wanted=wanted, function=function)
        return Difference(expected, got, advice, rule_helps=False)
    if line:
        words = _("{kind} in your line {number}, `{text}`: {message}")
        if not message:
            words = _("{kind} in your line {number}, `{text}`")
        got = words.format(kind=problem.kind, number=line.number, text=line.text.strip(), message=message)
    else:
        got = f"{problem.kind}: {message}" if message else problem.kind
    cause, __, advice = classics.explain(problem).partition("\n\n")
    return Difference(_("no exception"), got, advice, cause=cause)

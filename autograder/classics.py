"""Exceptions that everybody who writes PyTorch meets, with the cause in words.

Each is known by its kind and a part of its message. What the message holds (sizes, names) goes into the words. A blank
line parts the cause from what to do about it: the second is opened when the first was not enough.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from autograder.language import _
from autograder.observations import Problem


@dataclass(frozen=True)
class Classic:
    """One exception: names of its classes, a pattern for its message, and words that take the pattern's groups."""

    kinds: tuple[str, ...]
    pattern: str
    words: Callable[[], str]

    def explain(self, problem: Problem) -> str:
        """The words for this problem, "" where it is another one."""
        found = re.search(self.pattern, problem.message) if problem.kind in self.kinds else None
        if found is None:
            return ""
        groups = found.groupdict("")
        words = self.words().format(**groups, meant=_meant(groups.get("kind", ""), groups.get("name", "")))
        return "\n\n".join(layer.strip() for layer in words.split("\n\n"))


def _meant(kind: str, name: str) -> str:
    """The attribute of tensors, or of a module of PyTorch, that a misspelt name looks like, as a question."""
    there: Sequence[str] = ()
    if kind in ("Tensor", "Parameter"):
        there = dir(torch.Tensor)
    elif kind == "torch" or kind.startswith("torch."):
        try:
            there = dir(importlib.import_module(kind))
        except ImportError:
            return ""
    close = difflib.get_close_matches(name, there, 1, 0.75)
    return _("Is `{name}` meant?").format(name=close[0]) if close else ""


# What one asks a tensor for, and neither a tuple nor a list has.
_OF_TENSORS = (
    "T|mT|chunk|clone|contiguous|device|dim|dtype|expand|flatten|float|masked_fill|matmul|movedim|permute|reshape|shape|"
    "size|softmax|split|squeeze|sum|transpose|unflatten|unsqueeze|view"
)


def _many(kind: str) -> str:
    """Pattern of the messages that several things at once cause, a tuple or a list, where one tensor is wanted."""
    return (
        rf"'{kind}' object has no attribute '({_OF_TENSORS})'|must be Tensor, not {kind}|{kind} indices must be"
        rf"|operand type\(s\) for .*'{kind}'|can only concatenate {kind} \(|unknown to einops <class '{kind}'>"
    )


def explain(problem: Problem) -> str:
    """The cause in words, and in further paragraphs what to do about it; "" where nobody knows."""
    return next((words for classic in classics() if (words := classic.explain(problem))), "")


@lru_cache(maxsize=1)
def classics() -> Sequence[Classic]:
    """All that are known; the first that fits counts."""
    return (
        # -- shapes -----------------------------------------------------------------------------------------------
        Classic(
            ("RuntimeError",),
            r"view size is not compatible",
            lambda: _(
                "`view` needs the numbers to lie in memory in the order of the new shape. After `transpose`, `permute` "
                "or `expand` they do not.\n\nCall `.contiguous()` first, or use `.reshape`, which copies where it must."
            ),
        ),
        Classic(
            ("RuntimeError",),
            (
                r"size of tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\) .* dimension "
                r"(?P<axis>\d+)"
            ),
            lambda: _(
                "Two shapes do not broadcast: on axis {axis} one is {a} long and the other {b}. PyTorch "
                "lines shapes up from the right; sizes that meet must be equal, or one of them 1.\n\nPrint "
                "both shapes just before that line and write them one below the other, right ends together. "
                "Where is an axis missing, or in the wrong place? `unsqueeze` puts one in."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"output with shape \[(?P<small>[\d, ]*)\] doesn't match the broadcast shape \[(?P<large>[\d, ]*)\]",
            lambda: _(
                "A method that ends in `_` writes into the tensor of shape ({small}), but with the other one it would "
                "grow to ({large}).\n\nDoes the other tensor have an axis too many? Print its shape."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"expanded size of the tensor \((?P<wanted>\d+)\) must match the existing size \((?P<there>\d+)\)",
            lambda: _("`expand` repeats axes of size 1 only. An axis of size {there} cannot become {wanted} long."),
        ),
        Classic(
            ("RuntimeError",),
            r"number of sizes provided \((?P<given>\d+)\) must be greater or equal .* \((?P<there>\d+)\)",
            lambda: _(
                "`expand` never takes an axis away: the tensor has {there} axes, and {given} sizes are asked for."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"shapes cannot be multiplied \((?P<a>\d+x\d+) and (?P<b>\d+x\d+)\)",
            lambda: _(
                "In `a @ b` the last axis of a must be as long as the second-last of b. Here {a} meets "
                "{b}.\n\nPrint both shapes. Often one of the two wants `.transpose(-2, -1)`, or a linear is "
                "given another width than its own."
            ),
        ),
        Classic(
            ("RuntimeError",),
            (
                r"Expected size for first two dimensions of batch2 tensor to be: \[\d+, (?P<a>\d+)\] but got: "
                r"\[\d+, (?P<b>\d+)\]"
            ),
            lambda: _(
                "In `a @ b` the last axis of a must be as long as the second-last of b. Here {a} meets "
                "{b}.\n\nPrint both shapes. Often one of the two wants `.transpose(-2, -1)`, or a linear is "
                "given another width than its own."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"shape '\[(?P<shape>[-\d, ]+)\]' is invalid for input of size (?P<size>\d+)",
            lambda: _(
                "`view` and `reshape` keep the number of elements. The tensor has {size}; ({shape}) does not "
                "make up that many.\n\nMultiply the sizes you ask for and compare. Is one of them a number "
                "that belongs to another input?"
            ),
        ),
        Classic(
            ("RuntimeError",),
            (
                r"unflatten: Provided sizes \[(?P<sizes>[-\d, ]+)\] don't multiply up to the size of dim \d+ "
                r"\((?P<size>\d+)\)"
            ),
            lambda: _("`unflatten` cuts an axis of {size}: the sizes ({sizes}) must make up that many."),
        ),
        Classic(
            ("RuntimeError",),
            (
                r"Sizes of tensors must match except in dimension (?P<axis>\d+)\. Expected size (?P<a>\d+) "
                r"but got size (?P<b>\d+)"
            ),
            lambda: _(
                "`cat` joins along axis {axis}; on every other axis its tensors must be equally long. Here "
                "{a} meets {b}."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"stack expects each tensor to be equal size, but got \[(?P<a>[\d, ]*)\] at entry 0 and \[(?P<b>[\d, ]*)\]",
            lambda: _("`stack` makes a new axis, so its tensors must have one shape. Here ({a}) meets ({b})."),
        ),
        Classic(
            ("RuntimeError",),
            (
                r"subscript (?P<letter>\w) has size (?P<b>\d+) for operand \d+ which does not broadcast with "
                r".* size (?P<a>\d+)"
            ),
            lambda: _(
                "In `einsum` the letter {letter} names one length: here it is {a} in one tensor and {b} in another."
            ),
        ),
        Classic(
            ("IndexError",),
            r"Dimension out of range \(expected to be in range of \[-\d+, (?P<last>\d+)\], but got (?P<got>-?\d+)\)",
            lambda: _(
                "Axes are counted from 0: the last of this tensor is {last}, and {got} is asked for.\n\nPrint "
                "the shape just before that line. Counting from the right (-1, -2) works whatever stands in "
                "front."
            ),
        ),
        Classic(
            ("IndexError",),
            r"index (?P<got>-?\d+) is out of bounds for dimension (?P<axis>\d+) with size (?P<size>\d+)",
            lambda: _("Axis {axis} is {size} long; places are counted from 0, so {got} lies beyond its end."),
        ),
        Classic(
            ("IndexError",),
            r"too many indices for tensor of dimension (?P<axes>\d+)",
            lambda: _("The tensor has {axes} axes, and more places are asked for. Print its shape."),
        ),
        Classic(
            ("IndexError",),
            r"list index out of range|index -?\d+ is out of range",
            lambda: _("The list is shorter than that. Places are counted from 0: of N things the last is at N - 1."),
        ),
        Classic(
            ("ValueError",),
            r"(not enough|too many) values to unpack \(expected (?P<wanted>\d+)",
            lambda: _(
                "On the left stand {wanted} names, on the right another number of things.\n\nIf it is a shape, "
                "print it: the tensor has another number of axes than you think."
            ),
        ),
        # -- kinds of numbers, devices ----------------------------------------------------------------------------
        Classic(
            ("RuntimeError",),
            r"cannot be converted to type (at|c10)::Half without overflow",
            lambda: _(
                "float16 holds numbers up to 65,504 only. -1e9 does not fit.\n\n`float('-inf')` and "
                "`torch.finfo(scores.dtype).min` fit in every dtype."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"same device|not on the expected device",
            lambda: _(
                "Two tensors lie on different devices.\n\nA new tensor lies on the CPU unless told otherwise: make it "
                "with `device=x.device`."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"expected scalar type (?P<a>\w+) but found (?P<b>\w+)|must have the same dtype, but got:? (?P<c>\w+)",
            lambda: _(
                "Two tensors have different dtypes, and this operation takes only one.\n\nA new tensor is "
                "float32 unless told otherwise: make it with `dtype=x.dtype`. What comes from NumPy is "
                "float64."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"masked_fill_? only supports boolean masks|expected condition to be a boolean tensor",
            lambda: _(
                "This wants a bool mask, and was given numbers.\n\n`mask == 0` is bool whatever the mask's dtype is."
            ),
        ),
        Classic(
            ("TypeError", "RuntimeError"),
            r"only implemented on integer and Boolean|\"bitwise_not_cpu\" not implemented",
            lambda: _(
                "`~` works on bool and whole numbers, and on whole numbers it flips bits.\n\n`mask == 0` works on all."
            ),
        ),
        Classic(
            ("TypeError",),
            (
                r"int,? ?(but got|not) float|tuple of ints,? ?(but got|not) float|'float' object cannot be "
                r"interpreted as an integer"
            ),
            lambda: _("`/` gives a float, and a size is a whole number.\n\nDivide with `//`: `d_model // h`."),
        ),
        # -- gradients --------------------------------------------------------------------------------------------
        Classic(
            ("RuntimeError",),
            r"leaf Variable that requires grad is being used in an in-place operation",
            lambda: _(
                "A parameter is written into while PyTorch keeps track of gradients, which it "
                "refuses.\n\nWrite into it within `with torch.no_grad():`, or make a new tensor instead."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"needed for gradient computation has been modified by an inplace operation",
            lambda: _(
                "A tensor that the way back needs was written over: by `+=`, by `x[...] = ...`, or by a "
                "method that ends in `_`.\n\nMake a new tensor instead: `x = x + y`, `masked_fill` without the "
                "`_`."
            ),
        ),
        Classic(
            ("RuntimeError",),
            r"Can't call numpy\(\) on Tensor that requires grad",
            lambda: _("NumPy keeps no gradients, so a tensor that gathers them cannot go there.\n\nStay in PyTorch."),
        ),
        # -- Python -----------------------------------------------------------------------------------------------
        Classic(
            ("RuntimeError",),
            r"Boolean value of Tensor with more than one value is ambiguous",
            lambda: _(
                "`if`, `and`, `or` and `not` want one truth value, and the tensor holds many.\n\nTo ask "
                "whether there is one at all, write `if mask is not None`. Cell by cell it is `&`, `|` and "
                "`~`."
            ),
        ),
        Classic(
            ("RuntimeError", "ValueError"),
            r"cannot be converted to Scalar|only one element tensors can be converted",
            lambda: _(
                "One number is wanted here, and the tensor holds many. `math.sqrt` takes a number; a tensor "
                "has `.sqrt()`."
            ),
        ),
        Classic(
            ("TypeError", "AttributeError"),
            r"'NoneType' object|non-iterable NoneType|'NoneType' and|and 'NoneType'",
            lambda: _(
                "Something is `None` here that should be a tensor.\n\nDoes a function that you wrote lack its "
                "`return`? Or is it a mask or a dropout that was not given? Then ask first: `if mask is not "
                "None`."
            ),
        ),
        Classic(
            ("AttributeError",),
            r"before Module\.__init__\(\) call",
            lambda: _(
                "A module has to be set up before it takes others in.\n\nBegin `__init__` with `super().__init__()`."
            ),
        ),
        Classic(
            ("AttributeError",),
            r"'(?P<kind>Tensor|Parameter)' object has no attribute '(?P<name>\w+)'",
            lambda: _("A tensor has no `{name}`. {meant}"),
        ),
        Classic(
            ("AttributeError", "TypeError", "RuntimeError"),
            _many("tuple"),
            lambda: _(
                "Here stands a tuple, several things at once, where one tensor is wanted.\n\nA function that ends in "
                "`return a, b` gives such a pair. Take it apart where you call it: `a, b = function(...)`."
            ),
        ),
        Classic(
            ("AttributeError", "TypeError"),
            _many("list"),
            lambda: _(
                "Here stands a list of several things, where one tensor is wanted.\n\n`torch.stack` makes one tensor "
                "of a list of them along a new axis, `torch.cat` along one that is there."
            ),
        ),
        Classic(
            ("AttributeError",),
            r"'(?P<kind>\w+)' object has no attribute '(?P<name>\w+)'",
            lambda: _(
                "A {kind} has no `{name}`.\n\nIs it spelt like that where it is made? What `forward` needs, "
                "`__init__` keeps as `self.{name} = ...`."
            ),
        ),
        Classic(
            ("AttributeError",),
            r"module '(?P<kind>[\w.]+)' has no attribute '(?P<name>\w+)'",
            lambda: _("{kind} has no `{name}`. {meant}\n\nCheck the spelling, and in which module it lives."),
        ),
        Classic(
            ("NameError", "UnboundLocalError"),
            r"name '(?P<name>\w+)' is not defined",
            lambda: _(
                "There is no name `{name}` here.\n\nGive it a value in this function, before that line. Or is it "
                "spelt otherwise where it is made? Were the cells above run?\n\nIn a method of a class, what "
                "`__init__` has kept is `self.{name}`."
            ),
        ),
        Classic(
            ("UnboundLocalError",),
            r"local variable '(?P<name>\w+)'",
            lambda: _(
                "`{name}` is used before it gets a value on this way through the function. Is it set inside "
                "an `if` only?"
            ),
        ),
        Classic(
            ("TypeError",),
            (
                r"(?<![\w.])(?P<name>[\w.]+\(\)) takes (from )?(?P<takes>[\w ]+?) positional arguments? but "
                r"(?P<given>\d+) (was|were) given"
            ),
            lambda: _(
                "{name} was given {given} arguments and takes {takes}.\n\nA method's first argument is `self`: "
                "is it there in its `def`? Otherwise compare the call with the `def`."
            ),
        ),
        Classic(
            ("TypeError",),
            r"(?<![\w.])(?P<name>[\w.]+\(\)) missing \d+ required .*arguments?: (?P<which>.+)",
            lambda: _("{name} was called without {which}. Compare the call with the `def`."),
        ),
        Classic(
            ("TypeError",),
            r"(?<![\w.])(?P<name>[\w.]+\(\)) got an unexpected keyword argument '(?P<which>\w+)'",
            lambda: _("{name} knows no argument called `{which}`. In PyTorch an axis is called `dim`."),
        ),
        Classic(
            ("TypeError",),
            r"'(int|float)' object is not iterable",
            lambda: _("`for` and lists want many things, and this is one number.\n\nN times is `for _ in range(N)`."),
        ),
        Classic(
            ("TypeError",),
            r"cannot assign '.*' as parameter '(?P<name>\w+)'",
            lambda: _(
                "`{name}` is a parameter, and a plain tensor cannot take its place.\n\nWrite the numbers into the "
                "parameter that is there, within `with torch.no_grad():`, with `.copy_(...)`."
            ),
        ),
        Classic(
            ("TypeError",),
            r"'(?P<kind>Tensor|list|ModuleList|tuple)' object is not callable",
            lambda: _(
                "In front of round brackets stands a {kind}, which cannot be called.\n\nOne thing of a list is "
                "`things[0]`. Did a name that was a function get another value above?"
            ),
        ),
        Classic(
            ("TypeError",),
            r"'(?P<kind>int|float)' object is not callable",
            lambda: _(
                "In front of round brackets stands a number ({kind}), which cannot be called.\n\nIs a number kept "
                "where a module or a function was meant? A product is written with `*`."
            ),
        ),
        Classic(
            ("NotImplementedError",),
            r"missing the required \"forward\" function",
            lambda: _(
                "A module is called that has no `forward`. Is its name spelt like that, and indented inside the class?"
            ),
        ),
        Classic(
            ("RecursionError",),
            r"maximum recursion depth",
            lambda: _(
                "A function calls itself without end. Does it have the name of the function that it meant to call?"
            ),
        ),
        Classic(
            ("AssertionError",),
            r"",
            lambda: _(
                "An `assert` of your own does not hold.\n\nPrint what it compares. Does your `def` take its arguments "
                "in the order of the task?"
            ),
        ),
        Classic(
            ("KeyError",),
            r"(?P<key>.+)",
            lambda: _("There is no key {key}. Print the keys that there are."),
        ),
    )

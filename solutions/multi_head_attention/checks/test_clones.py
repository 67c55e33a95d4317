"""Rules for `clones`."""

import torch
from mha_inputs import dtypes, equal, one_device, unchanged

from autograder.checking import stage
from autograder.language import _


def linear(draw):
    """Weight and bias of a linear from 3 to 2 numbers."""
    return {"weight": draw.normal(2, 3), "bias": draw.normal(2)}


@stage(
    "shape",
    points=0.5,
    hint="One copy for each number in range(N).",
    clears="As many linears come back as N asks for.",
)
def test_n_copies(answer, draw):
    """`clones(linear, 3)` holds 3 linears, and `clones(linear, 1)` holds 1."""
    for number in (3, 1):
        answer.observe("clone_list", **linear(draw), N=number).same_plain("linears")


@stage(
    "values",
    points=1.5,
    hint="Copy the module that you are given, with its numbers.",
    blames="Before any training a copy is not what `module` is, so the fault lies in how one copy is made, not in what the copies share.",
    clears="Each copy starts out equal to `module`.",
)
def test_copies_start_out_equal_to_the_module(answer, draw):
    """Each copy holds the module's weights and bias, and computes the same."""
    seen = answer.observe("clone_numbers", **linear(draw), x=draw.normal(2, 3), N=4)
    seen.same("weights", axes="copy out in")
    seen.same("biases", axes="copy out")
    seen.same("outputs", axes="copy row out")


@stage(
    "values",
    points=2,
    hint="copy.deepcopy makes new memory; a second name or copy.copy does not. Is module itself in your list?",
    blames="So the fault lies in what they share: a whole object, or the memory of a weight or of a bias.",
    clears="Training one linear moves no other.",
)
def test_training_one_of_them_moves_no_other(answer, draw):
    """One step of training on copy 1 changes copy 1 alone; one step on the module changes the module alone."""
    given = {**linear(draw), "x": draw.normal(2, 3), "N": 5, "nested": False}
    moves(answer.observe("clone_training", **given, chosen="1"), "1")
    moves(answer.observe("clone_training", **given, chosen="module"), "module")


@stage(
    "values",
    points=1,
    hint="A copy has to reach the modules inside the module, and buffers too: that is what `deep` means.",
    blames="It fails only for a module that holds modules, so the fault lies in how those are copied, or in buffers, which are no parameters.",
)
def test_modules_inside_the_module_are_copied_too(answer, draw):
    """For an nn.Sequential with a linear and a batch norm: equal at first, buffers included, then independent."""
    given = linear(draw)
    seen = answer.observe("clone_nested", **given, x=draw.normal(4, 3), N=3)
    seen.same("outputs", axes="copy row out")
    seen.same("buffers", axes="copy out")
    moves(answer.observe("clone_training", **given, x=draw.normal(4, 3), N=3, nested=True, chosen="0"), "0")


def moves(seen, wanted):
    """Law: only the trained module moved."""
    keys = [key for key in seen.reference if key.endswith(" afterwards")]
    before = seen.reference["before"]
    moved = [key.removesuffix(" afterwards") for key in keys if not equal(seen.tensor(key), before)]
    seen.law(
        moved == [wanted],
        expected=_("only {name} changed").format(name=shown(wanted)),
        got=_("changed: {names}").format(names=", ".join(map(shown, moved)) or _("none")),
    )


def shown(name):
    """`copy 1`, or `module`."""
    return _("copy {number}").format(number=name) if name.isdigit() else name


@stage(
    "gradients",
    points=1,
    hint="Put the copies into an nn.ModuleList. A Python list hides them from the optimizer.",
    blames="Each copy is right by itself, so the fault lies in what holds the copies, or in weights that are no parameters any more.",
)
def test_a_module_finds_the_copies(answer, draw):
    """The copies stand in an nn.ModuleList: a module that keeps it has their weights and biases among its parameters."""
    seen = answer.observe("clone_list", **linear(draw), N=3)
    kind = seen.text("kind")
    seen.law(kind == "ModuleList", expected=_("an nn.ModuleList"), got=_("a {kind}").format(kind=kind))
    seen.same_plain("parameters")


@stage(
    "side effects",
    points=0.5,
    hint="Work on copies. The module itself stays as it is.",
    blames="The copies are right, so the fault lies in what the call does to `module` itself.",
)
def test_the_module_stays_as_it_was(answer, draw):
    """`module` holds the same numbers after the call, can be trained, and is in training mode as before."""
    unchanged(answer.observe("clone_side_effects", **linear(draw), N=3))


@stage(
    "side effects",
    points=0.5,
    hint="copy.deepcopy keeps all that a module is. Change nothing on the copy.",
    blames="The copies hold the right numbers, so the fault lies in what else belongs to a module: its mode, and what is frozen or tied in it.",
)
def test_copies_are_in_the_modules_condition(answer, draw):
    """Copies are in the mode of the module. What is frozen stays frozen, two parts with one weight still have one, and a linear without a bias has none."""
    seen = answer.observe("clone_condition", weight=draw.normal(2, 2), bias=draw.normal(2), N=2)
    for name in ("a module in evaluation", "a module in training"):
        seen.same_plain(
            f"parameters of {name}", f"parts of {name} in training", f"parameters of {name} that are frozen"
        )


@stage(
    "dtype",
    points=0.5,
    chapter="devices",
    hint="A new nn.Linear is float32. Copy the module instead of building one anew.",
)
def test_the_dtype_of_the_module_is_kept(answer, draw):
    """Copies of a float64 module are float64."""
    for dtype in (torch.float32, torch.float64):
        given = {name: tensor.to(dtype) for name, tensor in linear(draw).items()}
        dtypes(answer.observe("clone_dtype", **given, N=2), "copies")


@stage(
    "device",
    points=0.5,
    chapter="devices",
    hint="A new nn.Linear lies on the CPU. Copy the module instead of building one anew.",
)
def test_the_device_of_the_module_is_kept(answer, draw):
    """Copies lie on the device of the module."""
    one_device(answer.observe("clone_on_meta", **linear(draw), N=2))

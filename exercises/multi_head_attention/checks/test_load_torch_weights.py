"""Rules for `load_torch_weights`."""

import torch
from mha_inputs import dtypes, equal, first_tokens, four_linears, gradients, query_key_value, same_output, unchanged

from autograder.checking import stage
from autograder.language import _

ATTN, OUTPUT = "B h Tq Tk", "B Tq d_model"


@stage(
    "values",
    points=0.5,
    hint="The last d_model rows of in_proj_weight are W_V, and out_proj is W_O. Each has a bias.",
    blames="With one token attention has nothing to choose, so the fault lies in what W_V or W_O was given, weight or bias.",
    clears="With one token both modules compute the same, so W_V and W_O are loaded.",
)
def test_one_token(answer, draw):
    """With one token there is nothing to choose: after loading, your module gives what W_O makes of its V."""
    x = draw.normal(3, 1, 4)
    seen = answer.observe("load_and_call", h=2, **four_linears(draw, 4), query=x, key=x, value=x)
    seen.same("output", axes=OUTPUT)


@stage(
    "values",
    points=0.5,
    hint="The first d_model rows of in_proj_weight are W_Q, the next d_model are W_K.",
    blames="The weights in `attn` differ, so the fault lies in what W_Q or W_K was given.",
    clears="The weights in `attn` are right, so W_Q and W_K are loaded.",
)
def test_both_modules_attend_alike(answer, draw):
    """After loading, the weights in `attn` are those of nn.MultiheadAttention."""
    x = draw.normal(2, 3, 4)
    seen = answer.observe("load_and_call", h=2, **four_linears(draw, 4), query=x, key=x, value=x)
    seen.same("attn", axes=ATTN)


@stage(
    "values", points=0.5, hint="in_proj_weight holds W_Q, W_K, W_V on top of each other: rows 0 to d_model - 1 are W_Q."
)
def test_both_modules_compute_the_same(answer, draw):
    """After loading, your module gives the output and the weights that nn.MultiheadAttention gives."""
    x = draw.normal(2, 3, 4)
    seen = answer.observe("load_and_call", h=2, **four_linears(draw, 4), query=x, key=x, value=x)
    same_output(seen)


@stage("values", points=0.5, hint="Copy all eight tensors: four weights and four biases.")
def test_the_same_for_cross_attention_with_a_mask(answer, draw):
    """The same for query, key and value from different sources, 3 heads, and a mask."""
    seen = answer.observe(
        "load_and_call",
        h=3,
        **four_linears(draw, 12),
        **query_key_value(draw, 2, queries=3, keys=4, d_k=12),
        mask=first_tokens(4, 2, tokens=4),
    )
    same_output(seen)


@stage("values", points=0.5, hint="The rows d_model to 2·d_model - 1 of in_proj_bias are W_K's bias. The output does not show it.")
def test_all_eight_tensors_are_loaded(answer, draw):
    """Each linear holds the numbers of nn.MultiheadAttention, weight and bias."""
    seen = answer.observe("load_numbers", h=2, **four_linears(draw, 4))
    for letter in "QKVO":
        seen.same(f"W_{letter}", axes="out in")
        seen.same(f"b_{letter}", axes="out")


@stage(
    "gradients",
    points=0.5,
    hint="Write into the parameters under torch.no_grad(), and leave them parameters.",
    blames="All numbers are loaded, so the fault lies in how they were written: what stands there is no parameter that can learn.",
)
def test_the_module_can_still_be_trained(answer, draw):
    """A gradient still reaches W and b of all four linears."""
    seen = answer.observe(
        "load_gradients", h=2, **four_linears(draw, 4), x=draw.normal(2, 3, 4), direction=draw.normal(2, 3, 4)
    )
    gradients(seen)


@stage(
    "side effects",
    points=1,
    hint="`linear.weight = other.weight` and `.data = ...` share memory. `copy_` copies the numbers.",
    blames="All numbers are loaded, so the fault lies in how: a tensor of one module is a tensor of the other.",
)
def test_the_two_modules_share_no_memory(answer, draw):
    """Changing one of the two modules afterwards leaves the other's output as it is."""
    seen = answer.observe("load_and_train", h=2, **four_linears(draw, 4), x=draw.normal(2, 3, 4))
    for name in ("torch_mha", "mha"):
        pairs = {one: (f"{one} before {name} changed", f"{one} after {name} changed") for one in ("mha", "torch_mha")}
        moved = ", ".join(
            one for one, (before, after) in pairs.items() if not equal(seen.tensor(before), seen.tensor(after))
        )
        seen.law(
            moved == name,
            expected=_("only the output of {name} moved when {name} was changed").format(name=name),
            got=_("moved: {names}").format(names=moved or _("none")),
        )


@stage(
    "side effects",
    points=0.5,
    hint="Copy from torch_mha into mha, not the other way round.",
    blames="All numbers are loaded, so the fault lies in what the call does to `torch_mha`.",
)
def test_pytorchs_module_stays_as_it_was(answer, draw):
    """torch_mha holds the same numbers after the call, and mha is in the same mode and has the same dropout as before."""
    given = four_linears(draw, 4)
    unchanged(answer.observe("load_side_effects", h=2, **given))
    seen = answer.observe("load_condition", h=2, **given)
    before, after = seen.text("before"), seen.text("after")
    seen.law(after == before, expected=_("mha as before: {condition}").format(condition=before), got=after)


@stage("dtype", points=0.5, chapter="devices", hint="`copy_` keeps the dtype of the parameter it writes into.")
def test_a_float64_module_stays_float64(answer, draw):
    """Two float64 modules: the output is float64 and equal, and so is every digit of the weights."""
    given = {name: tensor.double() for name, tensor in four_linears(draw, 4).items()}
    seen = answer.observe("load_dtype", h=2, **given, x=draw.normal(2, 3, 4).double())
    dtypes(seen, "output of a float64 module")
    seen.same("output", axes=OUTPUT)
    given = {"weights": draw.normal(4, 4, 4, dtype=torch.float64), "biases": draw.normal(4, 4, dtype=torch.float64)}
    seen = answer.observe("load_numbers", h=2, **given)
    other = [name for name, wanted in seen.reference.items() if not equal(seen.tensor(name), wanted)]
    seen.law(
        not other,
        expected=_("every digit of the float64 weights"),
        got=_("fewer digits, or others, in {names}").format(names=", ".join(other)),
    )

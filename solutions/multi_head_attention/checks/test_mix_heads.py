"""Rules for `mix_heads`."""

import math

import torch
from mha_inputs import close, dtypes, gradients, one_device, unchanged

from autograder.checking import stage
from autograder.language import _

PARTS, OUTPUT = "B h T d_model", "B T d_model"


def heads_and_w_o(draw, batch, h, tokens, d_k, d_model):
    """heads (B, h, T, d_k), weight (d_model, h·d_k) and bias (d_model,) of W_O."""
    return {
        "heads": draw.normal(batch, h, tokens, d_k),
        "weight": draw.normal(d_model, h * d_k) / math.sqrt(d_k),
        "bias": draw.normal(d_model),
    }


@stage(
    "shape",
    points=1,
    hint="weight is (d_model, h·d_k): a head meets d_k of its columns, not of its rows. That block, transposed, is (d_k, d_model), here (5, 7), so a part is as wide as the output.",
)
def test_one_part_per_head(answer, draw):
    """Heads (2, 3, 4, 5) and a weight (7, 15) give parts (2, 3, 4, 7) and an output (2, 4, 7)."""
    seen = answer.observe("mix", **heads_and_w_o(draw, 2, 3, 4, 5, 7))
    seen.same_shape("parts", axes=PARTS)
    seen.same_shape("output", axes=OUTPUT)


@stage(
    "values",
    points=0.5,
    hint="The bias belongs to no head: add it once, to the sum.",
    blames="A head of zeros adds something all the same, so the bias, or another constant, stands in its part.",
    clears="A head of zeros adds nothing, so no bias stands in the parts.",
)
def test_a_head_of_zeros_adds_nothing(answer, draw):
    """Where head 1 holds zeros only, part 1 is zero: a part holds what its head adds, and nothing else."""
    given = heads_and_w_o(draw, 2, 2, 3, 2, 3)
    given["heads"][:, 1] = 0
    seen = answer.observe("mix", **given)
    seen.same_shape("parts", axes=PARTS)
    largest = float(seen.tensor("parts")[:, 1].abs().max())
    seen.law(
        largest < 1e-5,
        expected=_("a part of zeros for a head of zeros"),
        got=_("numbers up to {largest}").format(largest=f"{largest:.4g}"),
    )


@stage(
    "values",
    points=2,
    hint="Head i meets weight[:, i*d_k : (i+1)*d_k]; transposed, it maps d_k to d_model.",
    blames="The part of a single head differs, so the fault lies in which numbers of `weight` a head meets.",
    clears="The part of each head is right, so the blocks of `weight` are sound.",
)
def test_each_head_meets_its_own_block(answer, draw):
    """Part i is head i times its own d_k columns of `weight`: columns 0 and 1 for head 0, 2 and 3 for head 1."""
    seen = answer.observe("mix", **heads_and_w_o(draw, 2, 2, 3, 2, 3))
    seen.same("parts", axes=PARTS)


@stage(
    "values",
    points=1.5,
    hint="Concat and one nn.Linear give the same: output = merged @ weight.T + bias.",
    blames="So the fault lies in the sum over the heads, or in how often the bias is added.",
)
def test_the_output_is_what_w_o_makes_of_the_merged_heads(answer, draw):
    """The output equals the merged heads times W_O, plus the bias."""
    seen = answer.observe("mix", **heads_and_w_o(draw, 2, 2, 3, 2, 3))
    seen.same("output", axes=OUTPUT)


@stage("values", points=1, hint="The bias belongs to the output, not to a head: add it once, after the sum.")
def test_the_parts_and_the_bias_add_up_to_the_output(answer, draw):
    """The sum of the parts over 3 heads, plus the bias once, is the output."""
    given = heads_and_w_o(draw, 2, 3, 2, 2, 4)
    seen = answer.observe("mix", **given)
    seen.same_shape("parts", "output")
    parts, output = seen.tensor("parts"), seen.tensor("output")
    seen.law(
        close(parts.double().sum(dim=1) + given["bias"].double(), output.double()),
        expected=_("an output that is the sum of the parts plus the bias"),
        got=_("another one"),
    )


@stage("values", points=1, hint="Heads are all alike: head i and block i belong together, wherever they stand.")
def test_the_order_of_the_heads_does_not_matter(answer, draw):
    """Heads and their blocks of W_O in another order: the same output, and the parts in that order."""
    h, d_k, d_model = 3, 2, 5
    given = heads_and_w_o(draw, 2, h, 2, d_k, d_model)
    order = draw.permutation(h)
    columns = torch.arange(h * d_k).view(h, d_k).index_select(0, order).flatten()
    seen = answer.observe(
        "mix_in_another_order",
        **given,
        other_heads=given["heads"].index_select(1, order),
        other_weight=given["weight"].index_select(1, columns),
    )
    seen.same_shape("parts", "parts_reordered")
    seen.law(
        close(seen.tensor("output"), seen.tensor("output_reordered"))
        and close(seen.tensor("parts").index_select(1, order), seen.tensor("parts_reordered")),
        expected=_("the same output whatever the order of the heads"),
        got=_("another one"),
    )


@stage(
    "values", points=0.5, hint="Take every size from the arguments. `reshape` and `flatten` work where `view` refuses."
)
def test_other_sizes(answer, draw):
    """One head; as many heads as sentences; a square weight; one sentence; one token; inputs that are not contiguous."""
    for sizes in ((2, 1, 3, 4, 4), (3, 3, 2, 2, 6), (2, 4, 3, 1, 5), (1, 2, 3, 2, 4), (2, 3, 1, 2, 4)):
        for scattered in (False, True):
            seen = answer.observe("mix", **heads_and_w_o(draw, *sizes), scattered=scattered)
            seen.same("parts", axes=PARTS)
            seen.same("output", axes=OUTPUT)


@stage(
    "gradients",
    points=1,
    hint="Use weight and bias themselves. nn.Linear(...) and nn.Parameter(weight) make new leaves.",
)
def test_gradients_reach_heads_weight_and_bias(answer, draw):
    """heads, weight and bias receive the gradients that the formula gives, from the output and from the parts alone."""
    given = heads_and_w_o(draw, 2, 3, 4, 2, 5)
    seen = answer.observe("mix_gradients", **given, direction=draw.normal(2, 4, 5))
    gradients(seen, "heads", "weight", "bias")
    seen = answer.observe("mix_gradients_of_parts", **given, direction=draw.normal(2, 3, 4, 5))
    gradients(seen, "heads", "weight")


@stage("side effects", points=0.5, hint="`+=` writes into the tensor on its left. Is that one of the arguments?")
def test_the_arguments_stay_as_they_were(answer, draw):
    """heads, weight and bias hold the same numbers after the call."""
    unchanged(answer.observe("mix_side_effects", **heads_and_w_o(draw, 2, 3, 4, 2, 5)))


@stage("dtype", points=0.5, chapter="devices", hint="A new tensor is float32. Give it `dtype=heads.dtype`.")
def test_the_dtype_of_the_input_is_kept(answer, draw):
    """float32 in, float32 out; float64 in, float64 out."""
    given = heads_and_w_o(draw, 2, 3, 4, 2, 5)
    for dtype in (torch.float32, torch.float64):
        seen = answer.observe("mix_dtype", **{name: tensor.to(dtype) for name, tensor in given.items()})
        dtypes(seen, "parts", "output")


@stage("device", points=0.5, chapter="devices", hint="A new tensor lies on the CPU. Give it `device=heads.device`.")
def test_everything_stays_on_the_device_of_the_input(answer, draw):
    """No operation mixes devices, and the results lie where the inputs lie."""
    one_device(answer.observe("mix_on_meta", **heads_and_w_o(draw, 2, 3, 4, 2, 5)))

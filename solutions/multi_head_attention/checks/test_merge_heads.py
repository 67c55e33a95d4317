"""Rules for `merge_heads`."""

import torch
from mha_inputs import dtypes, gradients, one_device, touched, unchanged

from autograder.checking import stage
from autograder.language import _

AXES = "B T h·d_k"


@stage("shape", points=1, hint="First bring the tokens back in front of the heads, then join the last two axes.")
def test_one_row_per_token(answer, draw):
    """(2, 3, 4, 5) becomes (2, 4, 15)."""
    answer.observe("merge", x=draw.normal(2, 3, 4, 5)).same_shape("merged", axes=AXES)


@stage(
    "values",
    points=1.5,
    hint="The last two axes are joined: they have to be h and d_k when that happens.",
    blames="One head lands in columns that are not its own, so the fault lies in which two axes stand last when they are joined.",
    clears="Each head fills its own columns.",
)
def test_each_head_fills_its_own_columns(answer, draw):
    """Other numbers in head 1 of 3, each 2 wide, change the columns 2 and 3, and no other."""
    seen = answer.observe("merge_one_head", x=draw.normal(2, 3, 4, 2), head=1, content=draw.uniform(2, 4, 2, 4, 2))
    columns = touched(seen, "merged", "merged from the other x", axis=2)
    seen.law(
        columns == "2, 3",
        expected=_("only the columns 2, 3 changed"),
        got=_("changed columns: {columns}").format(columns=columns or _("none")),
    )


@stage(
    "values",
    points=2,
    blames="So the fault lies within a head: in which token, or in which order, its numbers are laid down.",
    hint="Row t of the result: token t of head 0, then token t of head 1, then token t of head 2.",
)
def test_heads_of_a_token_stand_side_by_side(answer, draw):
    """3 heads of width 2: a token's 6 numbers are the 2 of head 0, the 2 of head 1, the 2 of head 2."""
    answer.observe("merge", x=draw.normal(2, 3, 2, 2)).same("merged", axes=AXES)


@stage("values", points=1.5, hint="Take every size from x.shape.")
def test_other_numbers_of_heads(answer, draw):
    """One head, heads of width 1, as many heads as sentences, more tokens than numbers; one sentence, one token."""
    for shape in ((2, 1, 3, 4), (2, 4, 3, 1), (4, 4, 2, 3), (2, 2, 9, 3), (1, 2, 3, 2), (2, 2, 1, 3)):
        answer.observe("merge", x=draw.normal(*shape)).same("merged", axes=AXES)


@stage("values", points=1, hint="Where `view` refuses, call `.contiguous()` first, or use `.reshape`.")
def test_inputs_that_are_not_contiguous(answer, draw):
    """The same for an x whose numbers lie in another order in memory, as after a transpose."""
    for order in ("transposed", "scattered"):
        answer.observe("merge", x=draw.normal(2, 3, 4, 5), order=order).same("merged", axes=AXES)


@stage("gradients", points=1, hint="Rearrange the tensor itself. No .detach(), no .data, no NumPy.")
def test_the_gradient_reaches_x(answer, draw):
    """x receives the gradient, each number its own."""
    seen = answer.observe("merge_gradients", x=draw.normal(2, 3, 4, 2), direction=draw.normal(2, 4, 6))
    gradients(seen, "x")


@stage("side effects", points=0.5, hint="Do not write into x. Methods that end in `_` do.")
def test_x_stays_as_it_was(answer, draw):
    """x has the same shape and the same numbers after the call."""
    unchanged(answer.observe("merge_side_effects", x=draw.normal(2, 3, 4, 2)))


@stage(
    "dtype", points=1, chapter="devices", hint="Do not convert. Where you need a new tensor, give it `dtype=x.dtype`."
)
def test_the_dtype_of_x_is_kept(answer, draw):
    """float32 in, float32 out; float64 in, float64 out."""
    for dtype in (torch.float32, torch.float64):
        dtypes(answer.observe("merge_dtype", x=draw.normal(2, 3, 4, 2, dtype=dtype)), "merged")


@stage("device", points=0.5, chapter="devices", hint="A new tensor lies on the CPU. Give it `device=x.device`.")
def test_the_result_stays_on_the_device_of_x(answer, draw):
    """No operation mixes devices, and the result lies where x lies."""
    one_device(answer.observe("merge_on_meta", x=draw.normal(2, 3, 4, 2)))

"""Rules for `split_heads`."""

import torch
from mha_inputs import dtypes, gradients, one_device, touched, unchanged

from autograder.checking import stage
from autograder.language import _

AXES = "B h T d_k"


@stage("shape", points=1, hint="First (B, T, h, d_k), then move the head axis in front of the tokens.")
def test_heads_stand_in_front_of_the_tokens(answer, draw):
    """(2, 4, 15) with 3 heads becomes (2, 3, 4, 5)."""
    answer.observe("split", x=draw.normal(2, 4, 15), h=3).same_shape("heads", axes=AXES)


@stage(
    "values",
    points=1.5,
    hint="`view` cuts and joins axes; it cannot make two of them change places. Which axis is to be cut, and which is to be moved afterwards?",
    blames="Numbers of one token land at another, so the fault lies in how the axes are moved, not in how they are cut.",
    clears="Each token keeps its own numbers, so the token axis is sound.",
)
def test_a_token_stays_a_token(answer, draw):
    """Other numbers in token 1 of x change token 1 of the heads, and no other."""
    seen = answer.observe("split_one_token", x=draw.normal(2, 4, 6), h=3, token=1, content=draw.uniform(2, 4, 2, 6))
    tokens = touched(seen, "heads", "heads of the other x", axis=2)
    seen.law(
        tokens == "1",
        expected=_("only token 1 of the heads changed"),
        got=_("changed tokens: {tokens}").format(tokens=tokens or _("none")),
    )


@stage(
    "values",
    points=2,
    hint="x[..., 0:d_k] is head 0, x[..., d_k:2*d_k] is head 1, and so on.",
    blames="So the fault lies within a token: in which of its numbers go to which head.",
)
def test_head_i_holds_its_own_columns(answer, draw):
    """Head 0 holds the columns 0 and 1 of every token, head 1 the columns 2 and 3, head 2 the columns 4 and 5."""
    answer.observe("split", x=draw.normal(2, 2, 6), h=3).same("heads", axes=AXES)


@stage("values", points=1.5, hint="Compute d_k from x and h: d_k = x.size(-1) // h.")
def test_other_numbers_of_heads(answer, draw):
    """One head, heads of width 1, as many heads as sentences, more tokens than numbers; one sentence, one token."""
    for shape, h in (((2, 3, 4), 1), ((2, 3, 4), 4), ((4, 2, 8), 4), ((2, 9, 6), 2), ((1, 3, 4), 2), ((2, 1, 4), 2)):
        answer.observe("split", x=draw.normal(*shape), h=h).same("heads", axes=AXES)


@stage("values", points=1, hint="Where `view` refuses, `reshape` copies.")
def test_an_input_that_is_not_contiguous(answer, draw):
    """The same for an x whose numbers lie in another order in memory."""
    answer.observe("split", x=draw.normal(2, 3, 8), h=2, scattered=True).same("heads", axes=AXES)


@stage("gradients", points=1, hint="Rearrange the tensor itself. No .detach(), no .data, no NumPy.")
def test_the_gradient_reaches_x(answer, draw):
    """x receives the gradient, each number its own."""
    seen = answer.observe("split_gradients", x=draw.normal(2, 3, 6), h=3, direction=draw.normal(2, 3, 3, 2))
    gradients(seen, "x")


@stage("side effects", points=0.5, hint="Do not write into x. Methods that end in `_` do.")
def test_x_stays_as_it_was(answer, draw):
    """x has the same shape and the same numbers after the call."""
    unchanged(answer.observe("split_side_effects", x=draw.normal(2, 3, 6), h=3))


@stage(
    "dtype", points=1, chapter="devices", hint="Do not convert. Where you need a new tensor, give it `dtype=x.dtype`."
)
def test_the_dtype_of_x_is_kept(answer, draw):
    """float32 in, float32 out; float64 in, float64 out."""
    for dtype in (torch.float32, torch.float64):
        dtypes(answer.observe("split_dtype", x=draw.normal(2, 3, 6, dtype=dtype), h=3), "heads")


@stage("device", points=0.5, chapter="devices", hint="A new tensor lies on the CPU. Give it `device=x.device`.")
def test_the_heads_stay_on_the_device_of_x(answer, draw):
    """No operation mixes devices, and the heads lie where x lies."""
    one_device(answer.observe("split_on_meta", x=draw.normal(2, 3, 6), h=3))

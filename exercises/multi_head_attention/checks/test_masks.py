"""Rules for `padding_mask`, `causal_mask` and `share_across_heads`."""

import torch
from mha_inputs import dtypes, first_tokens, one_device, unchanged

from autograder.checking import stage
from autograder.language import _


def sentences(draw, lengths, tokens, pad):
    """Tokens (B, T): from 3 to 9, then `pad`."""
    words = draw.integers(3, 10, len(lengths), tokens)
    return torch.where(first_tokens(*lengths, tokens=tokens)[:, 0], words, pad)


@stage(
    "shape",
    points=0.5,
    of="padding_mask",
    hint="An axis of size 1 stands where the queries will be: (B, T) → (B, 1, T).",
    clears="The shape of the mask is right.",
)
def test_one_row_per_sentence(answer, draw):
    """Tokens (2, 4) give a mask (2, 1, 4); tokens (1, 4), (2, 1) and (1, 1) give (1, 1, 4), (2, 1, 1) and (1, 1, 1)."""
    answer.observe("pad", tokens=sentences(draw, (3, 2), 4, 0), pad=0).same_shape("mask", axes="B 1 T")
    for batch, tokens in ((1, 4), (2, 1), (1, 1)):
        answer.observe("pad_sizes", tokens=sentences(draw, (1,) * batch, tokens, 0), pad=0).same_plain("sizes")


@stage(
    "values",
    points=1,
    of="padding_mask",
    hint="True means: may look. Which tokens may a query look at?",
    blames="So the fault lies in the comparison: in what it compares, or in what its True means.",
    clears="With 0 as padding at the end of a sentence the mask is right.",
)
def test_true_for_every_token_but_the_padding(answer, draw):
    """The mask is True where the token is not `pad`, here 0."""
    answer.observe("pad", tokens=sentences(draw, (3, 2), 4, 0), pad=0).same("mask", axes="B 1 T")


@stage(
    "values",
    points=1,
    of="padding_mask",
    hint="Compare with the argument `pad`, at every position of every sentence.",
    blames="So the fault lies in what is taken for granted: which number fills up, or where in a sentence it stands.",
)
def test_any_number_may_be_the_padding(answer, draw):
    """pad may be 1, 7, 50256 or -100, and may stand anywhere in a sentence: padding on the left is padding too."""
    answer.observe("pad", tokens=sentences(draw, (4, 1, 2), 5, 1), pad=1).same("mask", axes="B 1 T")
    tokens = sentences(draw, (3, 2), 5, 2)
    left = torch.where(tokens == 2, 7, torch.where(tokens == 7, 0, tokens)).flip(1)
    left[:, -1] = 3  # a word below pad
    left[0, -2] = 0  # a word that is the padding elsewhere
    answer.observe("pad", tokens=left, pad=7).same("mask", axes="B 1 T")
    large = torch.tensor([[50257, 50256, 50255], [50255, 50250, 50256]])  # words and padding as GPT-2 counts them
    answer.observe("pad", tokens=large, pad=50256).same("mask", axes="B 1 T")
    answer.observe("pad", tokens=sentences(draw, (3, 2), 4, -100), pad=-100).same("mask", axes="B 1 T")


@stage(
    "side effects",
    points=0.5,
    of="padding_mask",
    hint="Compare; do not write into tokens.",
    blames="The mask is right, so the fault lies in what the call does to `tokens`.",
)
def test_tokens_stay_as_they_were(answer, draw):
    """`tokens` holds the same numbers after the call."""
    unchanged(answer.observe("pad_kind", tokens=sentences(draw, (3, 2), 4, 1), pad=1))


@stage(
    "dtype",
    points=0.5,
    of="padding_mask",
    hint="A comparison such as `!=` gives bool.",
    blames="Every cell is right, so the fault lies in the dtype alone.",
)
def test_the_padding_mask_is_bool(answer, draw):
    """The padding mask's dtype is torch.bool."""
    dtypes(answer.observe("pad_kind", tokens=sentences(draw, (3, 2), 4, 0), pad=0), "mask")


@stage(
    "device",
    points=0.5,
    chapter="devices",
    of="padding_mask",
    hint="Compare tokens itself. A new tensor lies on the CPU unless it is given `device=tokens.device`.",
)
def test_the_padding_mask_lies_where_tokens_lie(answer, draw):
    """No operation mixes devices, and the padding mask lies on the device of `tokens`."""
    one_device(answer.observe("pad_on_meta", tokens=sentences(draw, (3, 2), 4, 0), pad=0))


@stage(
    "shape",
    points=0.5,
    of="causal_mask",
    hint="An axis of size 1 stands in front: the mask is the same for every sentence.",
    clears="The shape of the mask is right.",
)
def test_one_table_for_all_sentences(answer):
    """Size 4 gives a mask (1, 4, 4)."""
    answer.observe("causal", size=4).same_shape("mask", axes="1 T T")


@stage(
    "values",
    points=2.5,
    of="causal_mask",
    hint="Row i is query i: True in the columns 0 to i, itself included. Look at tril and triu.",
    blames="So the fault lies in which side of the diagonal is True, in the diagonal itself, or in a size that is written down.",
)
def test_no_query_looks_ahead(answer, draw):
    """Query i may look at the keys 0 to i: query 0 at one key, query 3 at four. Sizes 1, 7 and 260 work as well."""
    for size in (4, 1, 7, draw.choice((5, 6, 8, 9, 10, 11))):
        answer.observe("causal", size=size).same("mask", axes="1 query key")
    seen = answer.observe("causal_large", size=260)  # no larger: who fills it cell by cell has 2 seconds for all
    seen.same_plain("sizes", "keys of query 0", "keys of query 130", "keys of query 259", "keys of all queries")


@stage(
    "dtype",
    points=0.5,
    of="causal_mask",
    hint="`.bool()` or a comparison gives bool.",
    blames="Every cell is right, so the fault lies in the dtype alone.",
)
def test_the_causal_mask_is_bool(answer):
    """The causal mask's dtype is torch.bool."""
    dtypes(answer.observe("causal_kind", size=3), "mask")


@stage(
    "device",
    points=0.5,
    chapter="devices",
    of="causal_mask",
    hint="Make the tensor there: torch.ones(..., device=device).",
)
def test_the_causal_mask_lies_on_the_device_asked_for(answer):
    """`causal_mask(4, device="meta")` lies on the meta device."""
    seen = answer.observe("causal_on_meta", size=4)
    device = seen.text("device")
    seen.law(device == "meta", expected=_("a mask on the device meta"), got=_("one on {device}").format(device=device))


@stage(
    "shape",
    points=1,
    of="share_across_heads",
    hint="(B, h, Tq, Tk) has the heads at position 1. Put the new axis there.",
    clears="The new axis stands in the right place.",
)
def test_an_axis_for_the_heads(answer, draw):
    """(2, 1, 5) becomes (2, 1, 1, 5); (1, 4, 5) becomes (1, 1, 4, 5); (2, 4, 5) becomes (2, 1, 4, 5); (1, 1, 5) becomes (1, 1, 1, 5)."""
    for shape, axes in (((2, 1, 5), "B 1 1 Tk"), ((1, 4, 5), "1 1 Tq Tk"), ((2, 4, 5), "B 1 Tq Tk"), ((1, 1, 5), "")):
        answer.observe("share", mask=draw.mask(*shape)).same_shape("mask", axes=axes)


@stage(
    "values",
    points=1.5,
    of="share_across_heads",
    hint="Only the shape changes; every sentence keeps its own mask.",
    blames="So the fault lies in cells that are changed, or moved to another sentence or another query.",
)
def test_the_same_mask_in_every_head(answer, draw):
    """The numbers stay, for bool, int and float masks."""
    for dtype in (torch.bool, torch.int64, torch.float32):
        answer.observe("share", mask=draw.mask(2, 4, 5).to(dtype)).same("mask", axes="B 1 Tq Tk")
        answer.observe("share", mask=first_tokens(3, 2, tokens=5).to(dtype)).same("mask", axes="B 1 1 Tk")


@stage(
    "side effects",
    points=0.5,
    of="share_across_heads",
    hint="`unsqueeze_` and `resize_` change the mask itself; `unsqueeze` does not.",
    blames="What comes back is right, so the fault lies in what the call does to the mask that it was given.",
)
def test_the_mask_stays_as_it_was(answer, draw):
    """The mask has the same shape and the same numbers after the call."""
    unchanged(answer.observe("share_side_effects", mask=draw.mask(2, 4, 5)))


@stage(
    "dtype",
    points=0.5,
    of="share_across_heads",
    hint="Only the shape changes: no `.float()`, no `.bool()`.",
    blames="Every cell is right, so the fault lies in the dtype alone.",
)
def test_the_mask_keeps_its_dtype(answer, draw):
    """A bool mask stays bool, an int mask int, a float mask float."""
    for dtype in (torch.bool, torch.int64, torch.float32):
        dtypes(answer.observe("share_kind", mask=draw.mask(2, 4, 5).to(dtype)), "mask")


@stage(
    "device",
    points=0.5,
    chapter="devices",
    of="share_across_heads",
    hint="A new tensor lies on the CPU unless it is given `device=mask.device`. `unsqueeze` needs none.",
)
def test_the_shared_mask_lies_where_the_mask_lies(answer, draw):
    """No operation mixes devices, and the mask for all heads lies on the device of `mask`."""
    one_device(answer.observe("share_on_meta", mask=draw.mask(2, 4, 5)))

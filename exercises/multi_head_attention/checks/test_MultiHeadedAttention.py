"""Rules for `MultiHeadedAttention`."""

import torch
from mha_inputs import (
    close,
    dtypes,
    first_tokens,
    four_linears,
    gradients,
    one_device,
    query_key_value,
    same_on_gpu,
    same_output,
    unchanged,
)

from autograder.checking import stage
from autograder.language import _

ATTN = "B h Tq Tk"
OUTPUT = "B Tq d_model"


@stage("shape", points=0.5, hint="Print each shape on the way: (B, T, d_model), (B, h, T, d_k), and back.")
def test_the_output_is_shaped_like_the_query(answer, draw):
    """5 queries and 7 keys, 12 wide, 3 heads or 4: the output is (2, 5, 12)."""
    given = {**four_linears(draw, 12), **query_key_value(draw, 2, queries=5, keys=7, d_k=12)}
    for h in (3, 4):  # whoever makes h linears is told apart from whoever makes three
        answer.observe("module_call", h=h, **given).same_shape("output", axes=OUTPUT)


@stage(
    "values",
    points=0.5,
    hint="One token: its weight is 1, so the output is W_O(W_V(value)), head beside head as they were.",
    blames="With one token attention has nothing to choose, so the fault lies in V, in W_O, or in how heads are laid side by side.",
    clears="With one token the output is right, so V and W_O are sound.",
)
def test_one_token(answer, draw):
    """With one query and one key there is nothing to choose: the output is what W_O makes of V."""
    seen = answer.observe(
        "module_call", h=2, **four_linears(draw, 4), **query_key_value(draw, 3, queries=1, keys=1, d_k=4)
    )
    seen.same("output", axes=OUTPUT)


@stage(
    "values",
    points=0.5,
    hint="Divide by √d_k, the width of one head, and let the softmax run along the keys, the last axis.",
    blames="With V and W_O that change nothing, the output shows each head's weights. They differ, so the fault lies in Q, in K, in the split into heads, in the scale, or in the axis of the softmax.",
    clears="The weights of each head are right, so Q, K, the scale and the softmax are sound.",
)
def test_the_weights_of_each_head(answer, draw):
    """V and W_O change nothing here, and value token j is 1 at place j of each head: so the output shows the weights."""
    given = four_linears(draw, 8)
    given["weights"][2:], given["biases"][2:] = torch.eye(8), 0.0
    inputs = query_key_value(draw, 3, queries=3, keys=4, d_k=8)
    inputs["value"] = torch.eye(4).repeat(3, 1, 2)  # (B, Tk, h·d_k)
    seen = answer.observe("module_call", h=2, **given, **inputs)
    seen.same("output", axes="B Tq h·Tk")


@stage(
    "values",
    points=1,
    hint="Take x through W_Q, W_K, W_V, split, attention, merge, W_O, and compare step by step with the book.",
)
def test_self_attention(answer, draw):
    """With given weights, query = key = value = x gives the output of the formula."""
    x = draw.normal(2, 3, 4)
    seen = answer.observe("module_call", h=2, **four_linears(draw, 4), query=x, key=x, value=x)
    same_output(seen)


@stage(
    "values",
    points=1.5,
    hint="W_Q takes query, W_K takes key, W_V takes value. Keys may be more or fewer than queries.",
)
def test_query_key_and_value_from_different_sources(answer, draw):
    """query, key and value may differ, and Tq from Tk; h = 3 heads of d_k = 4; inputs need not be contiguous. mha(x, memory, memory) works as well."""
    given = four_linears(draw, 12)
    seen = answer.observe("module_scattered", h=3, **given, **query_key_value(draw, 2, queries=3, keys=5, d_k=12))
    same_output(seen)
    seen.same("output_scattered", axes=OUTPUT)
    seen = answer.observe("module_objects", h=3, **given, x=draw.normal(2, 3, 12), memory=draw.normal(2, 3, 12))
    seen.same("output for (x, x, x)", "output for (x, memory, memory)", axes=OUTPUT)


@stage("values", points=1, hint="Use h and d_k = d_model // h everywhere, and no number of your own.")
def test_other_numbers_of_heads(answer, draw):
    """One head, heads of width 1, and as many heads as sentences; one sentence alone; one query beside four keys."""
    for h, d_model, batch in ((1, 4, 2), (3, 3, 3), (2, 4, 1)):
        x = draw.normal(batch, 4, d_model)
        seen = answer.observe("module_call", h=h, **four_linears(draw, d_model), query=x, key=x, value=x)
        same_output(seen)
    one = query_key_value(draw, 2, queries=1, keys=4, d_k=4)
    same_output(answer.observe("module_call", h=2, **four_linears(draw, 4), **one))


@stage("values", points=0.5, hint="No head is special: each uses its own block of each linear, and nothing else.")
def test_the_order_of_the_heads_does_not_matter(answer, draw):
    """Heads in another order, with their rows of W_Q, W_K, W_V and their columns of W_O: the same output."""
    h, d_model = 3, 6
    given = four_linears(draw, d_model)
    order = draw.permutation(h)
    rows = torch.arange(d_model).view(h, -1).index_select(0, order).flatten()
    weights, biases = given["weights"].clone(), given["biases"].clone()
    weights[:3], biases[:3] = given["weights"][:3][:, rows], given["biases"][:3][:, rows]
    weights[3] = given["weights"][3][:, rows]
    seen = answer.observe(
        "module_heads_in_another_order",
        h=h,
        **given,
        other_weights=weights,
        other_biases=biases,
        **query_key_value(draw, 2, queries=3, keys=4, d_k=d_model),
    )
    seen.law(
        close(seen.tensor("output"), seen.tensor("output_reordered")),
        expected=_("the same output whatever the order of the heads"),
        got=_("another one"),
    )


@stage(
    "mask",
    points=0.5,
    hint="True means: may look. Hand the mask on, and look which of its axes is the query's.",
    blames="Without a mask all is right. Under a causal mask the first query may look at token 0 alone, and it does not: the fault lies in whether the mask is used, or in what its True means.",
    clears="Under a causal mask the first query looks at token 0 alone, so the mask is used, and True means: may look.",
)
def test_the_first_query_under_a_causal_mask(answer, draw):
    """Under a causal mask (1, 3, 3) query 0 may look at token 0 alone: its output is what W_O makes of that token's V."""
    x = draw.normal(2, 3, 6)
    causal = torch.ones(1, 3, 3).tril().bool()
    seen = answer.observe("module_first_query", h=3, **four_linears(draw, 6), query=x, key=x, value=x, mask=causal)
    seen.same("output of query 0", axes="B d_model")


@stage(
    "mask",
    points=1.5,
    blames="The mask is used, but not as it is meant: the fault lies in where its axis for the heads stands.",
    hint="Shapes are lined up from the right: without an axis for the heads, the sentence axis meets the heads.",
)
def test_each_sentence_has_its_own_mask(answer, draw):
    """A mask (2, 1, 4) with 2 sentences and 2 heads: all heads of a sentence follow the mask of that sentence."""
    x = draw.normal(2, 4, 6)
    seen = answer.observe(
        "module_call", h=2, **four_linears(draw, 6), query=x, key=x, value=x, mask=first_tokens(3, 2, tokens=4)
    )
    same_output(seen)


@stage("mask", points=1, hint="Give the mask an axis for the heads: (B, 1, Tk) → (B, 1, 1, Tk).")
def test_all_heads_share_the_mask(answer, draw):
    """The same with 2 sentences and 3 heads, and with 3 sentences and 1 head."""
    for h, lengths in ((3, (4, 2)), (1, (4, 2, 3))):
        seen = answer.observe(
            "module_call",
            h=h,
            **four_linears(draw, 12),
            **query_key_value(draw, len(lengths), queries=5, keys=7, d_k=12),
            mask=first_tokens(*lengths, tokens=7),
        )
        same_output(seen)


@stage("mask", points=0.5, hint="The mask may have 1 where others have B or Tq; broadcasting does the rest.")
def test_masks_of_every_shape(answer, draw):
    """Masks (1, 1, Tk), (1, Tq, Tk), (B, Tq, Tk), bool, int or float; also for one sentence, for one query, and as mha(x, x, x, mask)."""
    masks = {
        "output for a bool mask (1, 1, 5)": draw.mask(1, 1, 5),
        "output for an int mask (1, 3, 5)": draw.mask(1, 3, 5).long(),
        "output for a float mask (2, 3, 5)": draw.mask(2, 3, 5).float(),
    }
    seen = answer.observe(
        "module_masks", h=3, **four_linears(draw, 6), **query_key_value(draw, 2, queries=3, keys=5, d_k=6), masks=masks
    )
    for name in masks:
        seen.same(name, axes=OUTPUT)
    given = four_linears(draw, 6)
    x, memory = draw.normal(1, 4, 6), draw.normal(1, 5, 6)
    causal, padding = torch.ones(1, 4, 4).tril().bool(), first_tokens(3, tokens=5)
    seen = answer.observe(
        "module_objects", h=2, **given, x=x, memory=memory, x_mask=causal, memory_mask=padding
    )
    seen.same("output for (x, x, x)", "output for (x, memory, memory)", axes=OUTPUT)
    one = query_key_value(draw, 2, queries=1, keys=4, d_k=6)
    seen = answer.observe("module_call", h=2, **given, **one, mask=first_tokens(3, 2, tokens=4))
    same_output(seen)


@stage("mask", points=0.5, hint="Hand the mask on to attention.")
def test_what_stands_at_a_forbidden_token_never_matters(answer, draw):
    """Other content at forbidden keys and values gives the same output."""
    mask = first_tokens(3, 2, tokens=4)
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=6)
    hidden = ~mask.transpose(1, 2)  # (B, Tk, 1)
    seen = answer.observe(
        "module_twice",
        h=2,
        **four_linears(draw, 6),
        **given,
        other_key=torch.where(hidden, draw.uniform(2, 4, 2, 4, 6), given["key"]),
        other_value=torch.where(hidden, draw.uniform(2, 4, 2, 4, 6), given["value"]),
        mask=mask,
    )
    seen.law(
        close(seen.tensor("output"), seen.tensor("output_after")),
        expected=_("the same output whatever stands at forbidden tokens"),
        got=_("another one"),
    )


@stage(
    "gradients",
    points=1.5,
    hint="Each linear is used once and is a parameter. No .detach(), no .data, no NumPy on the way.",
)
def test_gradients_reach_inputs_and_parameters(answer, draw):
    """query, key, value and all weights and biases receive the gradients that the formula gives, with and without a mask; with dropout in training they receive some."""
    given = {**four_linears(draw, 6), **query_key_value(draw, 2, queries=3, keys=4, d_k=6)}
    given["direction"] = draw.normal(2, 3, 6)
    for mask in (first_tokens(4, 2, tokens=4), None):
        seen = answer.observe("module_gradients", h=3, **given, mask=mask)
        gradients(seen, "query", "key", "value", "W_Q", "b_Q", "W_K", "W_V", "b_V", "W_O", "b_O")
    gradients(answer.observe("module_gradients_in_training", h=3, **given, dropout=0.5))


@stage(
    "gradients",
    points=1,
    hint="Four nn.Linear(d_model, d_model), whatever h is. An optimizer finds them through mha.parameters().",
)
def test_four_linears_whatever_h_is(answer, draw):
    """`linears` holds four linears d_model → d_model with biases, and the module has no other parameters."""
    seen = answer.observe("module_parts", sizes=[[2, 8], [8, 8]])
    seen.same_plain("h = 2, d_model = 8", "h = 8, d_model = 8")


@stage("side effects", points=0.5, hint="Make new tensors instead of writing into those you were given.")
def test_arguments_and_parameters_stay_as_they_were(answer, draw):
    """A call changes neither query, key, value and mask nor the module's parameters."""
    mask = first_tokens(3, 2, tokens=4)
    seen = answer.observe(
        "module_side_effects",
        h=2,
        **four_linears(draw, 6),
        **query_key_value(draw, 2, queries=3, keys=4, d_k=6),
        masks=[mask, mask.long(), mask.float()],
    )
    unchanged(seen)


@stage(
    "side effects",
    points=0.5,
    hint="In __init__: self.h = h, self.d_k = d_model // h, and self.dropout = nn.Dropout(dropout).",
)
def test_h_and_d_k_are_kept(answer):
    """`h` is the number of heads and `d_k` the width of one: 12 wide, 3 heads, so d_k is 4. `dropout` is an nn.Dropout of the share asked for, or of 0.1."""
    seen = answer.observe("module_sizes", sizes=[[3, 12], [2, 10]])
    for size, h, d_k in (("12 / 3", 3, 4), ("10 / 2", 2, 5)):
        for name, value in (("h", h), ("d_k", d_k)):
            came = seen.text(f"{name} of {size}")
            seen.law(
                came == str(value),
                expected=_("`{name}` = {value} for d_model / h = {size}").format(name=name, value=value, size=size),
                got=came,
            )
    seen = answer.observe("module_dropout", asked=[0.3])
    for asked, kept in (("default", "nn.Dropout(0.1)"), ("0.3", "nn.Dropout(0.3)")):
        came, call = seen.text(asked), "(h, d_model)" if asked == "default" else f"(h, d_model, dropout={asked})"
        seen.law(
            came == kept,
            expected=_("`dropout` = {value} after MultiHeadedAttention{call}").format(value=kept, call=call),
            got=came,
        )


@stage(
    "side effects",
    points=1,
    hint="Set self.attn in every forward: the weights as attention returns them, for every head.",
)
def test_attn_holds_the_weights_of_the_last_call(answer, draw):
    """After each call `attn` holds its weights (B, h, Tq, Tk), and the same call made again gives the same output."""
    seen = answer.observe(
        "module_attn",
        h=2,
        **four_linears(draw, 6),
        **query_key_value(draw, 2, queries=3, keys=4, d_k=6),
        short_query=draw.normal(2, 2, 6),
    )
    seen.same("attn", "attn of a second call", axes=ATTN)
    seen.same("output of the same call again", axes=OUTPUT)


@stage(
    "side effects",
    points=0.5,
    hint="Heads are equally wide. Say no in __init__, with assert or raise ValueError, when d_model % h is not 0.",
)
def test_a_width_that_h_does_not_divide_is_refused(answer):
    """512 / 7, 6 / 4 and 4 / 8 are refused with an AssertionError or a ValueError when the module is made."""
    seen = answer.observe("module_refusal", sizes=[[7, 512], [4, 6], [8, 4]])
    for size in ("512 / 7", "6 / 4", "4 / 8"):
        came = seen.text(size)
        seen.law(
            came == "refused",
            expected=_("an AssertionError or a ValueError for d_model / h = {size}").format(size=size),
            got=_("a module") if came == "made" else came,
        )


@stage(
    "train/eval",
    points=0.5,
    hint="In evaluation nothing is dropped. An nn.Dropout knows the mode; F.dropout needs training=self.training. How much it drops in training, the argument `dropout` says.",
)
def test_no_dropout_in_evaluation(answer, draw):
    """With dropout = 0.5 and after `eval()`, two calls give the same, and it is the formula's; with dropout = 0 training changes nothing either."""
    given, x = four_linears(draw, 6), draw.normal(2, 4, 6)
    seen = answer.observe("module_evaluation", h=2, **given, x=x, dropout=0.5)
    same_output(seen)
    seen.same("output_again", axes=OUTPUT)
    seen = answer.observe("module_without_dropout", h=2, **given, x=x)
    seen.law(
        not seen.flag("training differs"),
        expected=_("the same output in training as in evaluation for dropout = 0"),
        got=_("another one"),
    )


@stage(
    "train/eval", points=0.5, hint="Give self.dropout, an nn.Dropout(dropout), to attention. It acts on the weights, before they meet the values."
)
def test_dropout_on_the_weights_in_training(answer, draw):
    """With dropout = 0.5 in training, each weight is either 0 or twice as large, and the output is made with them; with a mask as well."""
    given = four_linears(draw, 6)
    x = draw.normal(2, 8, 6)
    for mask in (None, first_tokens(8, 6, tokens=8)):
        seen = answer.observe("module_training", h=3, **given, x=x, dropout=0.5, mask=mask)
        seen.same_shape("attn", "output")
        attn, still = seen.tensor("attn"), seen.reference["attn_in_evaluation"]
        dropped, allowed = (attn == 0) & (still != 0), int((still != 0).sum())
        seen.law(
            close(attn, torch.where(dropped, 0.0, still / (1 - 0.5))) and 0 < int(dropped.sum()) < allowed,
            expected=_("some weights 0 and all others twice as large"),
            got=_("{zeros} of {all} weights 0").format(zeros=int(dropped.sum()), all=allowed),
        )
        w, b = given["weights"].double(), given["biases"].double()
        values = (x.double() @ w[2].T + b[2]).unflatten(-1, (3, 2))  # (B, T, h, d_k)
        used = torch.einsum("bhqk,bkhd->bqhd", attn.double(), values).flatten(2) @ w[3].T + b[3]
        seen.law(
            close(seen.tensor("output"), used),
            expected=_("an output made with the weights in `attn`"),
            got=_("another output"),
        )


@stage(
    "train/eval",
    points=0.5,
    hint="An nn.Dropout(dropout) draws for each weight by itself: in every head, sentence and call anew.",
)
def test_dropout_draws_for_each_weight(answer, draw):
    """With dropout = 0.2 about one weight in five is dropped, each by itself: no row, column or head as a whole, and others in each call."""
    given = four_linears(draw, 6)
    seen = answer.observe("module_training", h=3, **given, x=draw.normal(2, 8, 6), dropout=0.2, mask=None)
    seen.same_shape("attn", "attn_of_the_next_call")
    dropped, then = seen.tensor("attn") == 0, seen.tensor("attn_of_the_next_call") == 0
    share = dropped.double().mean().item()  # of 384: 0.07 and 0.33 are six standard deviations away
    seen.law(0.07 < share < 0.33, expected=_("about 20 % of the weights 0"), got=f"{share:.0%}")
    alike = []
    for name, axis in (("query", -1), ("key", -2)):
        if bool((dropped.all(dim=axis) | ~dropped.any(dim=axis)).all()):
            alike.append(_("all weights of a {name}").format(name=_(name)))
    if bool((dropped == dropped[:, :1]).all()):
        alike.append(_("all heads"))
    if bool((dropped == dropped[:1]).all()):
        alike.append(_("all sentences"))
    if bool((dropped == then).all()):
        alike.append(_("all calls"))
    seen.law(not alike, expected=_("a draw for each weight"), got=_("one for {all}").format(all=", ".join(alike)))


@stage(
    "dtype",
    points=0.5,
    chapter="devices",
    hint="Do not convert. Where you need a new tensor, give it `dtype=query.dtype`.",
)
def test_the_dtype_of_the_input_is_kept(answer, draw):
    """A float32 module gives float32, a float64 module gives float64."""
    seen = answer.observe(
        "module_dtype",
        h=2,
        **four_linears(draw, 6),
        **query_key_value(draw, 2, queries=3, keys=4, d_k=6),
        mask=first_tokens(3, 2, tokens=4),
    )
    dtypes(seen, "float32", "float64")


@stage(
    "device",
    points=0.5,
    chapter="devices",
    hint="A constant like torch.tensor([...]) lies on the CPU. Make it a buffer, or give it `device=x.device`.",
)
def test_everything_stays_on_the_device_of_the_input(answer, draw):
    """No operation mixes devices, and the results lie where the inputs lie."""
    seen = answer.observe(
        "module_on_meta",
        h=2,
        **four_linears(draw, 6),
        **query_key_value(draw, 2, queries=3, keys=4, d_k=6),
        mask=first_tokens(3, 2, tokens=4),
    )
    one_device(seen)


@stage(
    "device",
    points=0,
    chapter="devices",
    report=True,
    hint="Worth no points. Is a tensor made on the CPU on the way, or a number rounded to a shorter dtype?",
)
def test_the_same_on_a_gpu(answer, draw):
    """Reported, never graded: where there is a GPU, output and gradients are those of the CPU, and close to float64 in float16 and bfloat16."""
    given = {**four_linears(draw, 6), **query_key_value(draw, 2, queries=3, keys=4, d_k=6)}
    mask, direction = first_tokens(3, 2, tokens=4), draw.normal(2, 3, 6)
    for dtype in ("float32", "bfloat16", "float16"):
        same_on_gpu(answer.observe("module_on_gpu", h=2, **given, mask=mask, direction=direction, dtype=dtype))

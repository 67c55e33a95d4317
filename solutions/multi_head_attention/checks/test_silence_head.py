"""Rules for `silence_head`."""

from mha_inputs import close, dtypes, first_tokens, four_linears, unchanged

from autograder.checking import stage
from autograder.language import _

ATTN, OUTPUT = "B h Tq Tk", "B Tq d_model"


@stage(
    "values",
    points=0.5,
    hint="A head adds its values times its columns of W_O. The bias of W_O belongs to no head.",
    blames="Of a module with one head the bias of W_O must be left, and of one with three heads more than that. So the fault lies in what is taken away: a part of the head stays, or more goes than heads add.",
    clears="Where the only head is silenced, the bias of W_O alone is left.",
)
def test_only_the_bias_is_left_without_heads(answer, draw):
    """Where the only head is silenced, the bias of W_O alone is left; with head 1 of 3 silenced the others still add something."""
    given, x = four_linears(draw, 6), draw.normal(2, 3, 6)
    loud = given["weights"].clone()
    loud[2] *= 1e6  # a millionth of such a head can still be heard
    seen = answer.observe("silence", h=1, weights=loud, biases=given["biases"], x=x, heads=[0])
    seen.same("output", axes=OUTPUT)
    output = answer.observe("silence", h=3, **given, x=x, heads=[1]).tensor("output")
    seen.law(
        not close(output, given["biases"][3].expand_as(output)),
        expected=_("an output to which the heads 0 and 2 still add"),
        got=_("the bias of W_O alone"),
    )


@stage(
    "values",
    points=1,
    hint="Head i meets W_O in the columns i·d_k to (i+1)·d_k - 1 of its weight.",
    blames="So the fault lies in which numbers belong to one head: in rows taken for columns, in where its block begins and ends, or in what is done to the other heads.",
    clears="A head in the middle is silenced as it should be.",
)
def test_the_other_heads_add_what_they_added_before(answer, draw):
    """With head 1 of 3 silenced, the output is the parts of the heads 0 and 2, plus the bias of W_O."""
    seen = answer.observe("silence_output", h=3, **four_linears(draw, 6), x=draw.normal(2, 3, 6), heads=[1])
    seen.same("output without head 1", axes=OUTPUT)


@stage(
    "values",
    points=1,
    hint="Heads are counted from 0, and each is d_k numbers wide.",
    blames="So the fault lies at the ends: in how the first or the last head is counted, or in a width that is written down.",
)
def test_the_first_and_the_last_head(answer, draw):
    """The same for head 0 and for the last head, here head 3 of 4."""
    seen = answer.observe("silence_output", h=4, **four_linears(draw, 8), x=draw.normal(2, 3, 8), heads=[0, 3])
    seen.same("output without head 0", "output without head 3", axes=OUTPUT)


@stage(
    "side effects",
    points=0.5,
    hint="W_Q and W_K decide where a head looks. Leave them alone.",
    blames="The output is right, so the fault lies in a change to W_Q, to W_K, or to `attn` itself.",
)
def test_the_weights_in_attn_stay_as_they_were(answer, draw):
    """`attn` is the same before and after: also the silenced head still looks where it looked."""
    seen = answer.observe("silence_attn", h=3, **four_linears(draw, 6), x=draw.normal(2, 3, 6), head=1)
    seen.same("attn", axes=ATTN)


@stage(
    "side effects",
    points=0.5,
    hint="Change only what belongs to this head, and keep the rest as it is now.",
    blames="One head alone is silenced as it should be, so the fault lies in what a second call does to the first one's work.",
)
def test_a_second_head_may_be_silenced_too(answer, draw):
    """Silencing head 0, then head 2, then head 0 once more leaves head 1 and the bias."""
    seen = answer.observe("silence", h=3, **four_linears(draw, 6), x=draw.normal(2, 3, 6), heads=[0, 2, 0])
    seen.same("output", axes=OUTPUT)


@stage(
    "side effects",
    points=0.5,
    hint="Change the head's columns of W_O, and leave the module otherwise as it is.",
    blames="The head is silent, so the fault lies in what else the call changes: other parameters, what can learn, the mode, or the dropout.",
)
def test_nothing_else_in_the_module_changes(answer, draw):
    """W_Q, W_K, their biases and the bias of W_O keep their numbers, all parameters can still learn, and mode and dropout are as before."""
    seen = answer.observe("silence_side_effects", h=3, **four_linears(draw, 6), head=1)
    unchanged(seen)
    seen.same_plain("learning")
    before, after = seen.text("before"), seen.text("after")
    seen.law(
        after == before,
        expected=_("a module that is as before: {condition}").format(condition=before),
        got=after,
    )


@stage("train/eval", points=0.5, hint="Change the numbers in mha, so that every later call finds them changed.")
def test_the_head_stays_silent(answer, draw):
    """The head stays silent for other inputs, for a second call, after train() and eval(), and under a mask, which still holds."""
    given, x = four_linears(draw, 6), draw.normal(2, 3, 6)
    seen = answer.observe("silence_for_good", h=3, **given, x=x, other=draw.normal(2, 4, 6), head=2)
    seen.same("output in training", "output for another input", "output of a second call", axes=OUTPUT)
    answer.observe("silence", h=3, **given, x=x, heads=[2], mask=first_tokens(2, 1, tokens=3)).same(
        "output", axes=OUTPUT
    )


@stage("dtype", points=0.5, chapter="devices", hint="A new tensor is float32. Write into the weight that is there.")
def test_a_float64_module_stays_float64(answer, draw):
    """The same in a float64 module: the output is float64, and the head is silent."""
    given = {name: tensor.double() for name, tensor in four_linears(draw, 6).items()}
    seen = answer.observe("silence_dtype", h=3, **given, x=draw.normal(2, 3, 6).double(), head=1)
    dtypes(seen, "output of a float64 module")
    seen.same("output", axes=OUTPUT)

"""Rules for `attention`."""

import torch
from mha_inputs import (
    close,
    dtypes,
    first_tokens,
    gradients,
    one_device,
    query_key_value,
    same_on_gpu,
    unchanged,
    whole_number_scores,
)

from autograder.checking import stage
from autograder.language import _


@stage(
    "shape",
    points=0.5,
    hint="scores: (Tq, d_k) @ (d_k, Tk), so swap the last two axes of key. Count axes from the right: -2, -1.",
)
def test_one_row_per_query_one_column_per_key(answer, draw):
    """2 queries and 3 keys give weights (2, 3); with values 5 wide the output is (2, 5). Axes in front are kept."""
    for lead, axes in (((), ""), ((2,), "B "), ((2, 3), "B h ")):
        seen = answer.observe("attend", **query_key_value(draw, *lead, queries=2, keys=3, d_k=4, d_v=5))
        seen.same_shape("weights", axes=axes + "Tq Tk")
        seen.same_shape("output", axes=axes + "Tq d_v")


@stage(
    "values",
    points=0.5,
    hint="One key: its weight is 1, so each row of the output is that key's value.",
    blames="With one key there is nothing to choose: its weight is 1, whatever the scores are. So the fault lies in the softmax, or in how the weights meet the values.",
    clears="With one key the output is its value.",
)
def test_one_key_has_all_the_weight(answer, draw):
    """With one key its weight is 1, and every row of the output is its value."""
    seen = answer.observe("attend", **query_key_value(draw, 2, queries=3, keys=1, d_k=4, d_v=5))
    seen.same("output", axes="B Tq d_v")


@stage(
    "values",
    points=1,
    hint="The softmax runs along the keys, the last axis of the scores.",
    blames="The weights of a query do not sum to 1, so the fault lies in the softmax or in its axis, not in the scores.",
    clears="Each query spends exactly 1, so the softmax runs along the right axis.",
)
def test_each_query_spends_exactly_1(answer, draw):
    """The weights of each query are between 0 and 1 and sum to 1."""
    for lead in ((), (2, 3)):
        seen = answer.observe("attend", **query_key_value(draw, *lead, queries=2, keys=3, d_k=4, d_v=5))
        seen.same_shape("weights")
        sums = seen.tensor("weights").double().sum(dim=-1)
        low = float(seen.tensor("weights").min())
        seen.law(
            low >= 0 and bool(torch.isclose(sums, torch.ones((), dtype=torch.float64), atol=1e-5).all()),
            expected=_("rows of weights between 0 and 1 that sum to 1"),
            got=_("the row sums {sums}, the smallest weight {low}").format(
                sums=", ".join(f"{s:.3f}" for s in sums.flatten()[:4].tolist()), low=f"{low:.3f}"
            ),
        )


@stage(
    "values",
    points=1.5,
    hint="Divide the scores by √d_k, here √4 = 2, before the softmax.",
    blames="The weights differ all the same, so the fault lies in the scores: in the dot products or in the scale.",
    clears="The weights are right, so the scores and the scale are sound.",
)
def test_weights_are_a_softmax_of_scaled_dot_products(answer, draw):
    """Weights are the softmax over the keys of q·k / √d_k."""
    seen = answer.observe("attend", **query_key_value(draw, queries=2, keys=3, d_k=4, d_v=5))
    seen.same("weights", axes="Tq Tk")


@stage(
    "values",
    points=1,
    hint="output = weights @ value, (Tq, Tk) @ (Tk, d_v).",
    blames="So the fault lies in how the weights meet the values.",
)
def test_output_adds_up_the_values(answer, draw):
    """Each row of the output is the sum of the values, each times its weight."""
    seen = answer.observe("attend", **query_key_value(draw, queries=2, keys=3, d_k=4, d_v=5))
    seen.same("output", axes="Tq d_v")


@stage(
    "values",
    points=0.5,
    hint="Nothing in attention knows where a key stands. Is there a fixed position or a mask in your code?",
)
def test_the_order_of_the_keys_does_not_matter(answer, draw):
    """Keys and values in another order: the same output, and the weights in that order."""
    order = draw.permutation(4)
    seen = answer.observe(
        "attend_in_another_order", **query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5), order=order
    )
    seen.same_shape("weights", "weights_reordered")
    output, again = seen.tensor("output"), seen.tensor("output_reordered")
    weights, moved = seen.tensor("weights"), seen.tensor("weights_reordered")
    seen.law(
        close(output, again) and close(weights.index_select(-1, order), moved),
        expected=_("the same output whatever the order of the keys"),
        got=_("another one"),
    )


@stage(
    "values",
    points=1.5,
    hint="Scale by √d_k of this input (d_k = query.size(-1)); softmax over the last axis, whatever stands in front.",
)
def test_other_widths_and_many_heads(answer, draw):
    """The same holds for (B, h, T, d_k) with d_k = 5 and 16, T ≠ d_k, for inputs that are not contiguous, and where B, Tq or all sizes are 1."""
    seen = answer.observe("attend", **query_key_value(draw, 2, 3, queries=4, keys=7, d_k=5, d_v=9))
    seen.same("weights", axes="B h Tq Tk")
    seen.same("output", axes="B h Tq d_v")
    seen = answer.observe("attend", **query_key_value(draw, 3, 2, queries=2, keys=3, d_k=16), scattered=True)
    seen.same("weights", axes="B h Tq Tk")
    seen.same("output", axes="B h Tq d_v")
    for batch, queries, keys in ((1, 2, 3), (2, 1, 3), (1, 1, 1)):
        seen = answer.observe("attend", **query_key_value(draw, batch, queries=queries, keys=keys, d_k=4, d_v=5))
        seen.same("weights", axes="B Tq Tk")
        seen.same("output", axes="B Tq d_v")


@stage(
    "mask",
    points=0.5,
    hint="Where the mask is 0 or False, a key is out: fill its score with -inf.",
    blames="Without a mask all is right. Here each query may look at one key alone, and others get weight: so the fault lies in what True means, in whether the mask is used, or in what is filled in.",
    clears="A key that is the only one allowed gets all the weight, so the mask is used, and True means: may look.",
)
def test_the_only_key_that_is_allowed(answer, draw):
    """Where a query may look at one key alone, that key has all the weight: key 2 for sentence 0, key 0 for sentence 1."""
    mask = torch.tensor([[[False, False, True]], [[True, False, False]]])
    seen = answer.observe("attend", **query_key_value(draw, 2, queries=2, keys=3, d_k=4, d_v=5), mask=mask)
    seen.same("weights", axes="B Tq Tk")


@stage(
    "mask",
    points=0.5,
    hint="Set the scores of forbidden keys to -inf (or very low) before the softmax.",
    blames="So the fault lies in how several allowed keys share the weight: does the mask come before the softmax?",
)
def test_a_mask_takes_keys_away(answer, draw):
    """The softmax runs over the allowed keys only: sentence 0 may look at 3 tokens, sentence 1 at 2; also as attention(query, key, value, mask)."""
    mask = first_tokens(3, 2, tokens=4)
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5)
    for by_position in (False, True):
        seen = answer.observe("attend", **given, mask=mask, by_position=by_position)
        seen.same("weights", axes="B Tq Tk", mask=mask)
        seen.same("output", axes="B Tq d_v")


@stage("mask", points=0.5, hint="A forbidden key must be out before the softmax, so that its share goes to the others.")
def test_what_stands_at_a_forbidden_token_never_matters(answer, draw):
    """Other keys and values at forbidden tokens give the same output and the same weights."""
    mask = first_tokens(3, 2, tokens=4)
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5)
    hidden = ~mask.transpose(1, 2)  # (B, Tk, 1)
    seen = answer.observe(
        "attend_twice",
        **given,
        other_key=torch.where(hidden, draw.uniform(2, 4, 2, 4, 4), given["key"]),
        other_value=torch.where(hidden, draw.uniform(2, 4, 2, 4, 5), given["value"]),
        mask=mask,
    )
    seen.law(
        close(seen.tensor("output"), seen.tensor("output_after"))
        and close(seen.tensor("weights"), seen.tensor("weights_after")),
        expected=_("the same output whatever stands at forbidden tokens"),
        got=_("another one"),
    )


@stage(
    "mask",
    points=1,
    hint="A score of -20 still leaves a weight of 2e-9. Use -inf, -1e9 or torch.finfo(scores.dtype).min.",
)
def test_a_forbidden_weight_is_exactly_0(answer, draw):
    """The weight of a forbidden key is 0, not a small number."""
    mask = first_tokens(3, 2, tokens=4)
    seen = answer.observe(
        "attend_with_large_scores", **query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5), mask=mask
    )
    no_leaks(seen)


def no_leaks(seen):
    """Law: all weights are numbers, and no forbidden key has one."""
    weights = seen.tensor("weights")
    seen.law(
        bool(weights.isfinite().all()),
        expected=_("finite weights"),
        got=_("{number} of {all} that are not").format(number=int((~weights.isfinite()).sum()), all=weights.numel()),
    )
    leaks = seen.number("leaks")
    seen.law(
        leaks == 0,
        expected=_("0 as the weight of every forbidden key"),
        got=_("{leaks} forbidden weights that are not 0").format(leaks=f"{leaks:g}"),
    )


@stage(
    "mask",
    points=0.5,
    hint="Compare with 0: `mask == 0` is right for bool, int and float. `~` on an int flips its bits.",
)
def test_a_mask_may_be_bool_int_or_float(answer, draw):
    """1 means the same as `True`, 0 the same as `False`, in int64, uint8 and float32."""
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5)
    for dtype in (torch.int64, torch.uint8, torch.float32):
        seen = answer.observe("attend", **given, mask=first_tokens(4, 2, tokens=4).to(dtype))
        seen.same("weights", axes="B Tq Tk")


@stage("mask", points=0.5, hint="Leave the mask's shape alone: `masked_fill` and `where` broadcast it to the scores.")
def test_a_mask_of_any_shape_that_broadcasts(answer, draw):
    """Masks (Tq, Tk), (1, Tq, Tk), (B, 1, 1, Tk), (B, 1, Tq, Tk) and (B, h, Tq, Tk) work beside scores (B, h, Tq, Tk)."""
    given = query_key_value(draw, 2, 3, queries=4, keys=5, d_k=7)
    for shape in ((4, 5), (1, 4, 5), (2, 1, 1, 5), (2, 1, 4, 5), (2, 3, 4, 5)):
        seen = answer.observe("attend", **given, mask=draw.mask(*shape))
        seen.same("weights", axes="B h Tq Tk")


@stage(
    "mask",
    points=0.5,
    hint="-20 or -1e4 is not lower than every score. Use -inf, -1e9 or torch.finfo(scores.dtype).min.",
)
def test_forbidden_keys_stay_out_beside_very_low_scores(answer, draw):
    """Allowed scores near -10,000 and forbidden ones near +10,000: forbidden weights are 0, and the others still sum to 1."""
    seen = answer.observe("attend_with_large_scores", **whole_number_scores(draw))
    seen.same_shape("weights")
    no_leaks(seen)
    near(seen, _("weights within 0.01 of the softmax over the allowed keys"))


def near(seen, expected):
    """Law: the weights are the reference's. float32 keeps scores of 10,000 to 0.001 only: hence no closer than 0.01."""
    weights, wanted = seen.tensor("weights"), seen.reference["weights"]
    seen.law(
        bool(torch.isclose(weights.double(), wanted.double(), atol=0.01).all()),
        expected=expected,
        got=_("others"),
    )


@stage("gradients", points=1, hint="Stay in PyTorch from the inputs to the output: no .detach(), no .data, no NumPy.")
def test_gradients_reach_query_key_and_value(answer, draw):
    """Each input receives the gradient that the formula gives: through a mask, without one, and through `dropout`."""
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5)
    direction = draw.normal(2, 3, 5)
    for more in ({"mask": first_tokens(3, 2, tokens=4)}, {}, {"factors": torch.tensor([0.0, 2.0, 1.0, 0.5])}):
        seen = answer.observe("attend_gradients", **given, direction=direction, **more)
        gradients(seen, "query", "key", "value")


@stage("side effects", points=0.5, hint="Make a new tensor instead of writing into one that you were given.")
def test_the_arguments_stay_as_they_were(answer, draw):
    """query, key, value and mask hold the same numbers after the call, whatever the mask's dtype."""
    mask = first_tokens(3, 2, tokens=4)
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5)
    unchanged(answer.observe("attend_side_effects", **given, masks=[mask, mask.long(), mask.float()]))


@stage("train/eval", points=0.5, hint="weights = dropout(weights) comes after the softmax and before the values.")
def test_dropout_acts_on_the_weights(answer, draw):
    """`dropout` is called once, with the softmax's weights, and the values meet what it returns; with a mask as well."""
    factors = torch.tensor([0.0, 2.0, 1.0, 0.5])  # per key
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4)
    for mask in (None, first_tokens(3, 2, tokens=4)):
        seen = answer.observe("attend_with_dropout", **given, factors=factors, mask=mask)
        calls = seen.number("calls")
        seen.law(calls == 1, expected=_("`dropout` called once"), got=_("{calls} calls").format(calls=f"{calls:g}"))
        seen.same("given", axes="B Tq Tk")
        seen.same("output", axes="B Tq d_v")


@stage("train/eval", points=0.5, hint="Return the weights that met the values, after dropout.")
def test_the_weights_returned_are_those_used(answer, draw):
    """The weights returned are those after dropout."""
    factors = torch.tensor([0.0, 2.0, 1.0, 0.5])
    seen = answer.observe("attend_with_dropout", **query_key_value(draw, 2, queries=3, keys=4, d_k=4), factors=factors)
    seen.same("weights", axes="B Tq Tk")


@stage(
    "dtype",
    points=0.5,
    chapter="devices",
    hint="Do not convert. Where you need a new tensor, give it `dtype=query.dtype`.",
)
def test_the_dtype_of_the_input_is_kept(answer, draw):
    """float32 in, float32 out; float64 in, float64 out."""
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5)
    mask = first_tokens(3, 2, tokens=4)
    for dtype in (torch.float32, torch.float64):
        seen = answer.observe("attend_dtype", **{k: v.to(dtype) for k, v in given.items()}, mask=mask)
        dtypes(seen, "output", "weights")


@stage(
    "dtype",
    points=1,
    chapter="devices",
    hint="exp(120) does not fit in float32. Subtract each row's maximum first, or use PyTorch's softmax.",
)
def test_large_scores_give_finite_weights(answer, draw):
    """float32 ends near 3e38, which exp(89) exceeds: scores of 120 to 480 give finite weights all the same, also beside -480 to -120, and so do scores near 10,000."""
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0])[:, None]
    query = 30.0 * draw.integers(1, 3, 2, 3, 16).float()  # scores from 120 to 480, exact in float32
    key = signs * draw.integers(1, 3, 2, 4, 16).float()
    value = draw.normal(2, 4, 5)
    below = torch.tensor([1.0, -1.0, 1.0])[:, None]  # all scores of query 1 lie far below those of the others
    for one, other in ((query, key), (below * query, signs * key)):
        seen = answer.observe("attend", query=one, key=other, value=value)
        seen.same("weights", axes="B Tq Tk")
        seen.same("output", axes="B Tq d_v")
    largest = whole_number_scores(draw)
    seen = answer.observe("attend", query=largest["query"], key=-largest["key"], value=largest["value"])
    seen.same_shape("weights")
    near(seen, _("weights within 0.01 of the softmax over scores near 10,000"))


@stage(
    "dtype",
    points=0,
    chapter="devices",
    report=True,
    hint="Worth no points. float16 ends at 65,504: -1e9 does not fit, -inf and torch.finfo(scores.dtype).min do.",
)
def test_half_precision(answer, draw):
    """Reported, never graded: float16 and bfloat16 inputs give finite results close to the float32 ones."""
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5)
    mask = first_tokens(3, 2, tokens=4)
    for dtype in (torch.bfloat16, torch.float16):
        seen = answer.observe("attend_half", **{k: v.to(dtype) for k, v in given.items()}, mask=mask)
        seen.same_shape("weights")
        seen.law(
            bool(torch.isclose(seen.tensor("weights").double(), seen.reference["weights"].double(), atol=0.05).all()),
            expected=_("weights within 0.05 of the reference"),
            got=_("others"),
        )


@stage(
    "device",
    points=0.5,
    chapter="devices",
    hint="A constant like torch.tensor([...]) lies on the CPU. Give it `device=query.device`.",
)
def test_everything_stays_on_the_device_of_the_input(answer, draw):
    """No operation mixes devices, and the results lie where the inputs lie."""
    one_device(
        answer.observe(
            "attend_on_meta",
            **query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5),
            mask=first_tokens(3, 2, tokens=4),
        )
    )


@stage(
    "device",
    points=0,
    chapter="devices",
    report=True,
    hint="Worth no points. Is a tensor made on the CPU on the way, or a number rounded to a shorter dtype?",
)
def test_the_same_on_a_gpu(answer, draw):
    """Reported, never graded: where there is a GPU, output, weights and gradients are those of the CPU, and close to float64 in float16 and bfloat16."""
    given = query_key_value(draw, 2, queries=3, keys=4, d_k=4, d_v=5)
    mask, direction = first_tokens(3, 2, tokens=4), draw.normal(2, 3, 5)
    for dtype in ("float32", "bfloat16", "float16"):
        same_on_gpu(answer.observe("attend_on_gpu", **given, mask=mask, direction=direction, dtype=dtype))

"""Rules for `predict_shapes` and `predict_parameters`."""

from autograder.checking import stage

PAPER = {"batch": 2, "tokens": 10, "d_model": 512, "h": 8}
SMALL = {"batch": 2, "tokens": 5, "d_model": 12, "h": 3}


def drawn(draw):
    """Sizes that nobody can know by heart, all different."""
    h, d_k = draw.choice((2, 3, 4)), draw.choice((5, 6, 7))
    return {"batch": draw.choice((8, 9)), "tokens": draw.choice((10, 11)), "d_model": h * d_k, "h": h}


@stage(
    "values",
    points=2,
    of="predict_shapes",
    hint="W_Q and W_O map d_model to d_model. Merging puts the heads side by side.",
    blames="This shape lies outside the heads: no number of heads is in it. Mend it first, for the others are made from it.",
    clears="Outside the heads every shape is right.",
)
def test_tokens_are_d_model_wide_outside_the_heads(answer, draw):
    """`projected`, `merged` and `output` have one row of d_model numbers for every token of every sentence."""
    for sizes in (SMALL, PAPER, drawn(draw)):
        answer.observe("predicted_shapes", **sizes).same_plain("projected", "merged", "output")


@stage(
    "values",
    points=2,
    of="predict_shapes",
    hint="d_k = d_model // h, a whole number. First the last axis is cut in two, then two axes change places.",
    blames="So the fault lies in the split: in what is cut, in how wide a head is, or in which axes change places.",
    clears="The split into heads is right.",
)
def test_heads_are_cut_from_the_last_axis(answer, draw):
    """`viewed` cuts d_model into h heads of d_k numbers; `heads` has the head axis in front of the tokens."""
    for sizes in (SMALL, PAPER, drawn(draw)):
        answer.observe("predicted_shapes", **sizes).same_plain("viewed", "heads")


@stage(
    "values",
    points=2,
    of="predict_shapes",
    hint="In each head, every query meets every key. Then each query gets one sum of values.",
    blames="So the fault lies in what one head does: in who is compared with whom, or in how wide its result is.",
)
def test_each_head_compares_tokens_with_tokens(answer, draw):
    """`scores` holds one T × T table per sentence and head; `context` is as wide as a head again."""
    for sizes in (SMALL, PAPER, {"batch": 3, "tokens": 4, "d_model": 6, "h": 1}, drawn(draw)):
        answer.observe("predicted_shapes", **sizes).same_plain("scores", "context")


@stage(
    "values",
    points=1,
    of="predict_parameters",
    chapter="clones",
    hint="A linear from d_model to d_model has a weight and a bias. Count the linears.",
    blames="The smallest case to follow by hand is d_model = 4: first count one linear, then how many there are.",
    clears="The count is right for the usual sizes.",
)
def test_four_linears_with_biases(answer, draw):
    """Four weights of d_model × d_model numbers and four biases of d_model numbers: 1,050,624 in the paper's size."""
    sizes = drawn(draw)
    seen = answer.observe("predicted_parameters", sizes=[[4, 2], [512, 8], [sizes["d_model"], sizes["h"]]])
    seen.same_plain(*seen.reference)


@stage(
    "values",
    points=1,
    of="predict_parameters",
    chapter="clones",
    hint="More heads means narrower heads. What does that do to the size of W_Q?",
    blames="So the fault lies in where `h` enters the count.",
)
def test_the_number_of_heads_does_not_matter(answer, draw):
    """The count is the same for every number of heads."""
    d_model = 12 * draw.choice((2, 3, 4))
    sizes = [[12, 1], [12, 3], [12, 12], [24, 3], [d_model, 2], [d_model, 6]]
    seen = answer.observe("predicted_parameters", sizes=sizes)
    seen.same_plain(*seen.reference)

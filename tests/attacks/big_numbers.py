"""Whole numbers with a million digits, and text of lone surrogates."""
# base: solved
# where: last
# lost: predict


def predict_parameters(d_model, h):
    return 10 ** (10**6)


def predict_shapes(batch, tokens, d_model, h):
    return {"projected": (10 ** (10**5), "\ud800" * 100, float("nan")), "\udfff": None}

"""Many small things that add up."""
# base: solved
# where: last
# lost: split_heads predict


def split_heads(x, h):
    inner = ["x" * 10_000] * 1000
    raise ValueError("y" * 100_000_000)


def predict_shapes(batch, tokens, d_model, h):
    one = [1] * 1000
    return {name: [one] * 1000 for name in ("projected", "viewed", "heads", "scores", "context", "merged", "output")}

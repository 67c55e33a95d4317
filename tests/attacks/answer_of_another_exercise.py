"""One exercise's cell defines the functions of another."""
# base: solved
# where: answer split_heads
# lost: nothing


def split_heads(x, h):
    return x.view(x.shape[0], x.shape[1], h, -1).transpose(1, 2)


def merge_heads(x):
    raise SystemExit

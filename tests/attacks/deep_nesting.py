"""A result that nests ten thousand deep, and one that holds itself."""
# base: solved
# where: last
# lost: split_heads merge_heads


def split_heads(x, h):
    top = inner = []
    for _ in range(10_000):
        inner.append([])
        inner = inner[0]
    return top


def merge_heads(x):
    loop = {}
    loop["loop"] = [loop] * 5
    return loop

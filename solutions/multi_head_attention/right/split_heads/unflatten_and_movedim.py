# unflatten, then movedim.
def split_heads(x, h):
    return x.unflatten(-1, (h, -1)).movedim(2, 1)

# misconception: axes-of-size-1-dropped
# squeeze(0) at the end: one sentence loses its axis.
def split_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2).squeeze(0)

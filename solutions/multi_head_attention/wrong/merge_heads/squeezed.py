# misconception: axes-of-size-1-dropped
# squeeze(0) at the end: one sentence loses its axis.
def merge_heads(x):
    return x.transpose(1, 2).flatten(2).squeeze(0)

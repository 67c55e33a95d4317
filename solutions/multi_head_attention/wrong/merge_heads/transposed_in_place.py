# misconception: inputs-changed-in-place
# transpose_ changes the caller's tensor.
def merge_heads(x):
    return x.transpose_(1, 2).flatten(2)

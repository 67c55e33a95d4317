# misconception: axes-of-size-1-dropped
# For one token the axis of the tokens is dropped.
def mix_heads(heads, weight, bias):
    B, h, T, k = heads.shape
    blocks = weight.unflatten(1, (h, k)).permute(1, 2, 0)
    parts = (heads.squeeze(2) if T == 1 else heads) @ blocks
    return parts, parts.sum(1) + bias

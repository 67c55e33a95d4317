# misconception: heads-interleaved
# Joins d_k and h in the wrong order: the heads' numbers alternate.
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.permute(0, 2, 3, 1).reshape(B, T, d_k * h)

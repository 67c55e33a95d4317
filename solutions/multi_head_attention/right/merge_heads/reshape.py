# reshape copies where it must.
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.permute(0, 2, 1, 3).reshape(B, T, -1)

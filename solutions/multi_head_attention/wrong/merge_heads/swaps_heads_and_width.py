# misconception: wrong-axes-swapped
# transpose(1, 3) where transpose(1, 2) is meant.
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.transpose(1, 3).reshape(B, T, h * d_k)

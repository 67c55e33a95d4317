# misconception: wrong-axes-swapped
# transpose(2, 3) where transpose(1, 2) is meant.
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.transpose(2, 3).reshape(B, T, h * d_k)

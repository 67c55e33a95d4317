# misconception: heads-interleaved
# view to (B, T, d_k, h): head i gets every h-th column.
def split_heads(x, h):
    B, T, d_model = x.shape
    return x.reshape(B, T, d_model // h, h).permute(0, 3, 1, 2)

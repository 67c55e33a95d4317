# misconception: heads-not-moved
# Stops at (B, T, h, d_k).
def split_heads(x, h):
    B, T, d_model = x.shape
    return x.view(B, T, h, d_model // h)

# misconception: every-head-the-same
# Gives the first d_k columns to every head.
def split_heads(x, h):
    d_k = x.size(-1) // h
    return x[..., :d_k].unsqueeze(1).repeat(1, h, 1, 1)

# misconception: heads-folded-into-batch
# Returns (B·h, T, d_k).
def split_heads(x, h):
    B, T, d_model = x.shape
    return x.view(B, T, h, d_model // h).transpose(1, 2).reshape(B * h, T, d_model // h)

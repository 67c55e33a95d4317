# misconception: heads-in-front-of-batch
# Returns (h, B, T, d_k) (lsdefine/attention-is-all-you-need-keras#36).
def split_heads(x, h):
    B, T, d_model = x.shape
    return x.view(B, T, h, d_model // h).permute(2, 0, 1, 3)

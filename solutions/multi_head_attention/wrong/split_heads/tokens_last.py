# misconception: wrong-axes-swapped
# permute(0, 2, 3, 1) puts the tokens last.
def split_heads(x, h):
    B, T, d_model = x.shape
    return x.view(B, T, h, d_model // h).permute(0, 2, 3, 1)

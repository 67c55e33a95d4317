# misconception: gradient-cut
# Works on .data.
def split_heads(x, h):
    B, T, d_model = x.shape
    return x.data.view(B, T, h, d_model // h).transpose(1, 2)

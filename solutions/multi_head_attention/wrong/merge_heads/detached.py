# misconception: gradient-cut
# Works on .detach().
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.detach().transpose(1, 2).reshape(B, T, h * d_k)

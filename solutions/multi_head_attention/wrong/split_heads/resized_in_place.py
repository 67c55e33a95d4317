# misconception: inputs-changed-in-place
# resize_ changes the caller's tensor.
def split_heads(x, h):
    B, T, d_model = x.shape
    return x.resize_(B, T, h, d_model // h).transpose(1, 2)

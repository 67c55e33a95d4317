# misconception: gradient-cut
# Through a Python list: no gradient, and always float32.
def merge_heads(x):
    B, h, T, d_k = x.shape
    rows = x.transpose(1, 2).reshape(B, T, h * d_k).tolist()
    return torch.tensor(rows)

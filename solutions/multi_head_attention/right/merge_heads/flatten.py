# transpose and flatten.
def merge_heads(x):
    return x.transpose(1, 2).flatten(start_dim=2)

# misconception: constant-on-the-cpu
# index_select with column numbers on the CPU.
def split_heads(x, h):
    d_k = x.size(-1) // h
    heads = [torch.index_select(x, 2, torch.arange(i * d_k, (i + 1) * d_k)) for i in range(h)]
    return torch.stack(heads, dim=1)

# W_O as a sum over slices of weight.
def mix_heads(heads, weight, bias):
    B, h, T, d_k = heads.shape
    parts = []
    for i in range(h):
        parts.append(heads[:, i] @ weight[:, i * d_k : (i + 1) * d_k].T)
    parts = torch.stack(parts, dim=1)
    return parts, parts.sum(1) + bias

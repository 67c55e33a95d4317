# misconception: heads-in-front-of-batch
# torch.stack without an axis, then the sum over axis 1: the sentences.
def mix_heads(heads, weight, bias):
    h, d_k = heads.size(1), heads.size(3)
    parts = [heads[:, i] @ weight[:, i * d_k : (i + 1) * d_k].T for i in range(h)]
    parts = torch.stack(parts)  # (h, B, T, d_model)
    return parts, parts.sum(dim=1) + bias

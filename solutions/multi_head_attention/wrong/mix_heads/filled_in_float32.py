# misconception: dtype-not-kept
# Fills a tensor of zeros, which is float32.
def mix_heads(heads, weight, bias):
    B, h, T, d_k = heads.shape
    parts = torch.zeros(B, h, T, weight.size(0), device=heads.device)
    for i in range(h):
        parts[:, i] = heads[:, i] @ weight[:, i * d_k : (i + 1) * d_k].T
    return parts, parts.sum(dim=1) + bias

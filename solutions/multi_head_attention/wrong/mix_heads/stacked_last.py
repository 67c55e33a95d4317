# misconception: parts-stacked-behind-the-tokens
# Stacked on the last axis: (B, T, d_model, h).
def mix_heads(heads, weight, bias):
    h, d_k = heads.size(1), heads.size(3)
    parts = [heads[:, i] @ weight[:, i * d_k : (i + 1) * d_k].T for i in range(h)]
    parts = torch.stack(parts, dim=-1)
    return parts, parts.sum(dim=-1) + bias

# misconception: rows-for-columns
# Takes d_k rows of weight per head (skyzh/tiny-llm#41 shows how easily the two are mixed up).
def mix_heads(heads, weight, bias):
    h, d_k = heads.size(1), heads.size(3)
    parts = torch.stack([heads[:, i] @ weight[i * d_k : (i + 1) * d_k] for i in range(h)], dim=1)
    return parts, parts.sum(dim=1) + bias

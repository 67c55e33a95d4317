# misconception: constant-on-the-cpu
# The sum starts from zeros on the CPU.
def mix_heads(heads, weight, bias):
    B, h, T, d_k = heads.shape
    output = torch.zeros(B, T, weight.size(0), dtype=heads.dtype)
    parts = []
    for i in range(h):
        parts.append(heads[:, i] @ weight[:, i * d_k : (i + 1) * d_k].T)
        output = output + parts[-1]
    return torch.stack(parts, dim=1), output + bias

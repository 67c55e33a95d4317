# misconception: gradient-cut
# Copies weight into an nn.Linear: the gradient ends there.
def mix_heads(heads, weight, bias):
    B, h, T, d_k = heads.shape
    w_o = nn.Linear(h * d_k, weight.size(0))
    w_o.weight = nn.Parameter(weight)
    w_o.bias = nn.Parameter(bias)
    parts = torch.stack([heads[:, i] @ w_o.weight[:, i * d_k : (i + 1) * d_k].T for i in range(h)], dim=1)
    return parts, w_o(heads.transpose(1, 2).reshape(B, T, h * d_k))

# misconception: weight-not-transposed
# x @ W where nn.Linear computes x @ W.T.
def mix_heads(heads, weight, bias):
    parts = heads @ weight.unflatten(1, (heads.size(1), -1)).permute(1, 0, 2)
    output = parts.sum(dim=1) + bias
    return parts, output

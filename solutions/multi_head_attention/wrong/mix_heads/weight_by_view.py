# misconception: weight-cut-by-view-alone
# view(h, d_k, d_model): the right shape, other numbers.
def mix_heads(heads, weight, bias):
    parts = heads @ weight.reshape(heads.size(1), heads.size(3), -1)
    output = parts.sum(dim=1) + bias
    return parts, output

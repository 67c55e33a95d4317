# misconception: inputs-changed-in-place
# t_ turns the caller's weight.
def mix_heads(heads, weight, bias):
    parts = heads @ weight.t_().reshape(heads.size(1), heads.size(3), -1)
    output = parts.sum(dim=1) + bias
    return parts, output

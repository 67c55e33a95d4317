# misconception: heads-in-reverse-order
# Head i meets the block of head h - 1 - i.
def mix_heads(heads, weight, bias):
    parts = heads @ weight.unflatten(1, (heads.size(1), -1)).permute(1, 2, 0).flip(0)
    output = parts.sum(dim=1) + bias
    return parts, output

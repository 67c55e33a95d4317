# misconception: heads-in-front-of-batch
# The parts stacked in front: (h, B, T, d_model).
def mix_heads(heads, weight, bias):
    parts = heads @ weight.unflatten(1, (heads.size(1), -1)).permute(1, 2, 0)
    output = parts.sum(dim=1) + bias
    return parts.transpose(0, 1), output

# misconception: parts-summed-over-another-axis
# Sums over the last axis, d_model.
def mix_heads(heads, weight, bias):
    parts = heads @ weight.unflatten(1, (heads.size(1), -1)).permute(1, 2, 0)
    return parts, parts.sum(dim=-1) + bias

# misconception: bias-added-per-head
# Adds the bias to each part: h times in all.
def mix_heads(heads, weight, bias):
    parts = heads @ weight.unflatten(1, (heads.size(1), -1)).permute(1, 2, 0) + bias
    output = parts.sum(dim=1)
    return parts, output

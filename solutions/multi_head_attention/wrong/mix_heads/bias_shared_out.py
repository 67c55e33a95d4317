# misconception: bias-added-per-head
# Gives each part its share of the bias.
def mix_heads(heads, weight, bias):
    parts = heads @ weight.unflatten(1, (heads.size(1), -1)).permute(1, 2, 0) + bias / heads.size(1)
    output = parts.sum(dim=1)
    return parts, output

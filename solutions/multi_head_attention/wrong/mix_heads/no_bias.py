# misconception: bias-forgotten
# Leaves out the bias (harvardnlp/annotated-transformer#95 misses it in the text).
def mix_heads(heads, weight, bias):
    parts = heads @ weight.unflatten(1, (heads.size(1), -1)).permute(1, 2, 0)
    output = parts.sum(dim=1)
    return parts, output

# misconception: running-sum-in-a-part
# += on parts[:, 0] writes the sum into the first part.
def mix_heads(heads, weight, bias):
    blocks = weight.unflatten(1, (heads.size(1), -1)).permute(1, 2, 0)
    parts = heads @ blocks
    output = parts[:, 0]
    for i in range(1, heads.size(1)):
        output += parts[:, i]
    return parts, output + bias

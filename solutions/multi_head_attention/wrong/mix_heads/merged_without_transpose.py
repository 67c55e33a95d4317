# misconception: merged-without-transpose
# The output from heads that were joined without transpose.
def mix_heads(heads, weight, bias):
    parts = heads @ weight.unflatten(1, (heads.size(1), -1)).permute(1, 2, 0)
    output = heads.reshape(heads.size(0), heads.size(2), -1) @ weight.T + bias
    return parts, output

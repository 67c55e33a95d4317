# misconception: turned-weight-cut-as-before
# weight.T has its axes the other way round, and is cut as if it had not.
def mix_heads(heads, weight, bias):
    blocks = weight.T.reshape(weight.size(0), heads.size(1), heads.size(3))
    parts = torch.einsum("bhtd,ohd->bhto", heads, blocks)
    return parts, parts.sum(dim=1) + bias

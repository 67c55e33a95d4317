# misconception: gradient-cut
# Parts through .data, the output by one linear.
def mix_heads(heads, weight, bias):
    B, h, T, k = heads.shape
    parts = torch.einsum("bhtk,dhk->bhtd", heads, weight.unflatten(1, (h, k))).data
    return parts, F.linear(heads.transpose(1, 2).flatten(2), weight, bias)

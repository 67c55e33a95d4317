# The output through F.linear on the merged heads, the parts through F.linear on each block.
def mix_heads(heads, weight, bias):
    merged = heads.transpose(1, 2).flatten(2)
    parts = [F.linear(one, block) for one, block in zip(heads.unbind(1), weight.chunk(heads.size(1), dim=1))]
    return torch.stack(parts, dim=1), F.linear(merged, weight, bias)

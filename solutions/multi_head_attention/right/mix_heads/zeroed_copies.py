# Each part is W_O applied to merged heads of which all but one are zero.
def mix_heads(heads, weight, bias):
    h = heads.size(1)
    alone = torch.eye(h, dtype=heads.dtype, device=heads.device)
    parts = []
    for i in range(h):
        only = heads * alone[i].view(1, h, 1, 1)
        parts.append(only.transpose(1, 2).flatten(2) @ weight.t())
    return tuple((torch.stack(parts, 1), sum(parts) + bias))

# Causal row by row, with stack and where.
def padding_mask(tokens, pad):
    return torch.where(tokens == pad, False, True).reshape(tokens.size(0), 1, -1)


def causal_mask(size, device=None):
    rows = [torch.arange(size, device=device) <= i for i in range(size)]
    return torch.stack(rows).unsqueeze(0)


def share_across_heads(mask):
    return torch.stack([mask], dim=1)

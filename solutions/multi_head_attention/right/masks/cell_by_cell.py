# Causal cell by cell: slow, and right.
def padding_mask(tokens, pad):
    mask = torch.zeros(tokens.size(0), 1, tokens.size(1), dtype=torch.bool, device=tokens.device)
    mask[:, 0][tokens != pad] = True
    return mask


def causal_mask(size, device=None):
    mask = torch.zeros(1, size, size, dtype=torch.bool, device=device)
    for i in range(size):
        for j in range(i + 1):
            mask[0, i, j] = True
    return mask


def share_across_heads(mask):
    return torch.unsqueeze(mask, -3)

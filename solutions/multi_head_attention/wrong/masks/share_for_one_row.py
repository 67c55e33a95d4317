# misconception: mask-taken-for-one-row
# view to (B, 1, 1, -1): right for (B, 1, Tk) only.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.reshape(mask.size(0), 1, 1, -1)

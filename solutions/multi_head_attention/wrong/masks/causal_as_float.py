# misconception: mask-not-bool
# causal_mask of 0.0 and 1.0.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: mask-not-bool
# padding_mask of 0 and 1.
def padding_mask(tokens, pad):
    return (tokens != pad).long().unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

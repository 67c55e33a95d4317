# misconception: causal-mask-only-itself
# An identity: a query may look at itself alone.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.eye(size, device=device).bool().unsqueeze(0)


def share_across_heads(mask):
    return mask.unsqueeze(1)

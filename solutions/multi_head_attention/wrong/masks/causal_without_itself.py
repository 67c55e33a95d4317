# misconception: causal-mask-off-by-one
# tril(-1): a query may not look at itself, and query 0 at nothing.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril(-1).bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: mask-inverted
# triu(1): True where a query may not look (TransformerLensOrg/TransformerLens#284).
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).triu(1).bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

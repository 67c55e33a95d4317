# misconception: padding-compared-with-is
# `is not` compares objects: right for small numbers only.
def padding_mask(tokens, pad):
    allowed = [[token is not pad for token in sentence] for sentence in tokens.tolist()]
    return torch.tensor(allowed, device=tokens.device).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, dtype=torch.bool, device=device).tril()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: padding-number-fixed
# Takes it for granted that the padding is no number below 0.
def padding_mask(tokens, pad):
    return ((tokens - abs(pad)) != 0).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, dtype=torch.bool, device=device).tril()


def share_across_heads(mask):
    return mask.unsqueeze(1)

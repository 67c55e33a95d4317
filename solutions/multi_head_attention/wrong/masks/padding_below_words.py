# misconception: padding-number-fixed
# tokens > pad: right only where pad is the smallest number.
def padding_mask(tokens, pad):
    return (tokens > pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

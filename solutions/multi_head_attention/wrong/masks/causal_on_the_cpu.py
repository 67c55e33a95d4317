# misconception: device-ignored
# The argument device is never used.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

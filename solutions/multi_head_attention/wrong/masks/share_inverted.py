# misconception: mask-inverted
# Turns the mask around on the way.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return (mask == 0).unsqueeze(1)

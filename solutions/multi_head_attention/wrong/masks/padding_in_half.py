# misconception: padding-in-short-floats
# float16 holds whole numbers to 2048 only.
def padding_mask(tokens, pad):
    return (tokens.half() != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, dtype=torch.bool, device=device).tril()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: heads-hard-wired
# Repeats the mask for 8 heads.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1).repeat(1, 8, 1, 1)

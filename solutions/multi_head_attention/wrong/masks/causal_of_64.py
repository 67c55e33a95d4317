# misconception: width-hard-wired
# Cut from a table of 64: larger masks are 64 wide.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, 64, 64, dtype=torch.bool, device=device).tril()[:, :size, :size]


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: padding-number-fixed
# Compares with 0 instead of pad (wzhouad/RE_improved_baseline#3: 1 is the padding there).
def padding_mask(tokens, pad):
    return (tokens != 0).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: mask-lacks-an-axis
# causal_mask is (size, size).
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: head-axis-too-early
# padding_mask is (B, 1, 1, T) already.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1).unsqueeze(2)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

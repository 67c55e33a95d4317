# misconception: inputs-changed-in-place
# tokens -= pad writes into the caller's tensor.
def padding_mask(tokens, pad):
    tokens -= pad
    return (tokens != 0).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

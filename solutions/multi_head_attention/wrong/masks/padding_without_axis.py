# misconception: mask-lacks-an-axis
# padding_mask stays (B, T).
def padding_mask(tokens, pad):
    return tokens != pad


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: axes-of-size-1-dropped
# squeeze() before the new axis: one sentence, or one token, loses its axis.
def padding_mask(tokens, pad):
    return (tokens != pad).squeeze().unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, dtype=torch.bool, device=device).tril()


def share_across_heads(mask):
    return mask.unsqueeze(1)

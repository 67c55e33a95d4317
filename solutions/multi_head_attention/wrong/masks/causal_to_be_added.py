# misconception: additive-mask
# 0 and -inf, to be added to the scores, as nn.Transformer makes it.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.full((1, size, size), float("-inf"), device=device).triu(1)


def share_across_heads(mask):
    return mask.unsqueeze(1)

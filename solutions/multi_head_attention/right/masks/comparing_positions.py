# Causal by comparing positions; padding by negation; einops.
from einops import rearrange


def padding_mask(tokens, pad):
    return ~(tokens == pad).unsqueeze(-2)


def causal_mask(size, device=None):
    position = torch.arange(size, device=device)
    return (position[None, :] <= position[:, None]).unsqueeze(0)


def share_across_heads(mask):
    return rearrange(mask, "b q k -> b 1 q k")

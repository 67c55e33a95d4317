# einops.rearrange.
from einops import rearrange


def split_heads(x, h):
    return rearrange(x, "b t (h d) -> b h t d", h=h)

# einops for the blocks.
from einops import rearrange


def mix_heads(heads, weight, bias):
    blocks = rearrange(weight, "m (h d) -> h d m", h=heads.size(1))
    parts = heads @ blocks
    return parts, bias + parts.sum(dim=1)

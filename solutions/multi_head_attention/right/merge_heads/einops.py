# einops.rearrange.
import einops


def merge_heads(x):
    return einops.rearrange(x, "b h t d -> b t (h d)")

# misconception: heads-in-reverse-order
# Takes the heads from the last one to the first.
def split_heads(x, h):
    return torch.stack(x.chunk(h, dim=-1)[::-1], dim=1)

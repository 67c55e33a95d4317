# chunk the last axis, stack along the heads.
def split_heads(x, h):
    return torch.stack(torch.chunk(x, h, dim=-1), dim=1)

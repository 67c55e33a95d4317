# misconception: tokens-cut-instead-of-width
# Cuts the token axis into h pieces.
def split_heads(x, h):
    return torch.stack(x.chunk(h, dim=1), dim=1)

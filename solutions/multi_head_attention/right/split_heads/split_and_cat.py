# split, unsqueeze and cat.
def split_heads(x, h):
    pieces = torch.split(x, x.size(-1) // h, dim=2)
    return torch.cat([piece.unsqueeze(1) for piece in pieces], dim=1)

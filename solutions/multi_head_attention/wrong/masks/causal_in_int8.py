# misconception: positions-overflow
# Positions in int8: 127 is followed by -128.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    i = torch.arange(size, device=device).to(torch.int8)
    return i[None, None, :] <= i[None, :, None]


def share_across_heads(mask):
    return mask.unsqueeze(1)

# permute and contiguous.
def split_heads(x, h):
    B, T, D = x.size()
    assert D % h == 0
    return x.reshape(B, T, h, D // h).permute(0, 2, 1, 3).contiguous()

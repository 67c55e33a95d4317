"""A result of gigabytes."""
# base: solved
# where: answer split_heads
# lost: split_heads


def split_heads(x, h):
    return torch.zeros(1).expand(1 << 16, 1 << 14)

"""More memory than there is."""
# base: solved
# where: answer split_heads
# lost: split_heads

import torch


def split_heads(x, h):
    kept = []
    while True:
        kept.append(torch.ones(1 << 27))

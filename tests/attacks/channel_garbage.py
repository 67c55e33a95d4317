"""Writes garbage to the line before the real answer."""
# base: solved
# where: answer split_heads
# lost: split_heads

import os


def split_heads(x, h):
    os.write(3, b"\x10\0\0\0\0\0\0\0garbagegarbagega")
    return x.view(x.shape[0], x.shape[1], h, -1).transpose(1, 2)

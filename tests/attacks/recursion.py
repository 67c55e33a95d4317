"""Endless recursion."""
# base: solved
# where: answer split_heads
# lost: split_heads

import sys

sys.setrecursionlimit(10**9)


def split_heads(x, h):
    return split_heads(x, h)

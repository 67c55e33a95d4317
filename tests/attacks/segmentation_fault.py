"""Python itself is crashed."""
# base: solved
# where: answer split_heads
# lost: split_heads
# says: SIGSEGV

import ctypes


def split_heads(x, h):
    ctypes.string_at(0)

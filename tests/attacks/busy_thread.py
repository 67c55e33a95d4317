"""Leaves a thread behind that takes the time of the exercises after it."""
# base: solved
# where: answer split_heads
# lost: split_heads

import threading


def burn():
    while True:
        pass


def split_heads(x, h):
    for _ in range(3):
        threading.Thread(target=burn, daemon=True).start()
    raise ValueError("a thread is left")

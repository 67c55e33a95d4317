"""Fills the folder that it may write to."""
# base: solved
# where: first
# lost: nothing

import os

for number in range(100_000):
    try:
        with open(str(number), "wb") as file:
            file.write(b"x" * (1 << 20))
    except OSError:
        break
os.makedirs("a/" * 100, exist_ok=True) if False else None

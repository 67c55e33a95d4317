"""Starts as many threads as there can be."""
# base: solved
# where: first
# lost: nothing

import threading
import time

try:
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError:
    pass

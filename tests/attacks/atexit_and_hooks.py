"""Hangs itself on every hook of the end of a process."""
# base: solved
# where: first
# lost: nothing

import atexit
import faulthandler
import gc
import signal
import sys
import threading
import weakref

again = lambda *args, **kwargs: [0 for _ in iter(int, 1)]
atexit.register(again)
gc.callbacks.append(lambda *args: None)
sys.excepthook = sys.unraisablehook = threading.excepthook = again
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU):
    signal.signal(number, signal.SIG_IGN)

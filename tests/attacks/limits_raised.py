"""Raises its own limits, stops its clock, and then loops."""
# base: solved
# where: answer split_heads
# lost: split_heads
# says: time was up

import resource
import signal

for what in range(16):
    try:
        resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        pass
signal.setitimer(signal.ITIMER_PROF, 0)
signal.signal(signal.SIGPROF, signal.SIG_IGN)


def split_heads(x, h):
    signal.setitimer(signal.ITIMER_PROF, 0)
    while True:
        pass

"""The shell is another one: cells do not run, and say that they did."""
# base: solved
# where: last
# lost: own

import sys


def worker_here():
    frame = sys._getframe()
    while frame is not None:
        if type(frame.f_locals.get("self")).__name__ == "Worker":
            return frame.f_locals["self"], frame.f_locals.get("cells", ())
        frame = frame.f_back
    raise LookupError


worker, _ = worker_here()
worker.shell = None

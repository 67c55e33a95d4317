"""A library asks for the network, and wraps what it is told."""
# base: solved
# where: answer merge_heads
# lost: merge_heads
# flag: merge_heads was refused what it tried: URLError

import urllib.request


def merge_heads(x):
    urllib.request.urlopen("http://192.0.2.1/", timeout=1)

"""Returns an object whose unpickling would run a command."""
# base: solved
# where: last
# lost: split_heads merge_heads

import os


class Runs:
    def __reduce__(self):
        return os.system, ("touch /tmp/it-ran",)


def split_heads(x, h):
    return Runs()


def merge_heads(x):
    return {"merged": Runs(), "list": [Runs()]}

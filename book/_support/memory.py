"""How much memory tensors take while a function runs, counted after each operation."""

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Watch(TorchDispatchMode):
    """Keeps a list of all storages made inside, and the largest sum of those alive at once."""

    def __init__(self):
        super().__init__()
        self.alive, self.peak = {}, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = {t.untyped_storage()._cdata for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)}
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                if storage._cdata not in given:
                    self.alive[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
        self.peak = max(self.peak, self.now())
        return result

    def now(self):
        """Bytes of the storages that are still in use."""
        self.alive = {key: entry for key, entry in self.alive.items() if not entry[0].expired()}
        return sum(size for _, size in self.alive.values())


def memory(function):
    """Run `function(mark)`; megabytes at the moment it calls `mark()`, and the most at any time."""
    marked = []
    with Watch() as watch:
        function(lambda: marked.append(watch.now()))
    return marked[0] / 2**20, watch.peak / 2**20

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
        self.alive = {key: entry for key, entry in self.alive.items() if not entry[0].expired()}
        self.peak = max(self.peak, sum(size for _, size in self.alive.values()))
        return result


def peak_megabytes(function):
    """The most memory that tensors made by `function` take at once, in units of 2^20 bytes."""
    with Watch() as watch:
        function()
    return watch.peak / 2**20

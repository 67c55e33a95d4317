# nn.ModuleList takes any iterable; deepcopy imported by name, type hints.
from copy import deepcopy


def clones(module: nn.Module, N: int) -> nn.ModuleList:
    """N identical layers."""
    return nn.ModuleList(deepcopy(module) for _ in range(N))

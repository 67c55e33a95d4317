# misconception: copies-unfrozen
# Each parameter is made anew: a frozen one learns, and one that two parts share becomes two.
def copied(module):
    new = copy.copy(module)
    new._parameters = {k: None if p is None else nn.Parameter(p.detach().clone()) for k, p in module._parameters.items()}
    new._buffers = {k: None if b is None else b.clone() for k, b in module._buffers.items()}
    new._modules = {k: copied(m) for k, m in module._modules.items()}
    return new


def clones(module, N):
    return nn.ModuleList([copied(module) for _ in range(N)])

# misconception: copies-untied
# Modules are copied one by one, so what two parts share becomes two.
def copied(module):
    new = copy.copy(module)
    new._parameters = copy.deepcopy(module._parameters)
    new._buffers = copy.deepcopy(module._buffers)
    new._modules = {k: copied(m) for k, m in module._modules.items()}
    return new


def clones(module, N):
    return nn.ModuleList([copied(module) for _ in range(N)])

# An empty nn.ModuleList that grows.
def clones(module, N):
    layers = nn.ModuleList()
    for _ in range(N):
        layers.append(copy.deepcopy(module))
    return layers

# misconception: module-among-its-copies
# The module itself and N - 1 copies.
def clones(module, N):
    return nn.ModuleList([module] + [copy.deepcopy(module) for _ in range(N - 1)])

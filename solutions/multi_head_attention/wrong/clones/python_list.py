# misconception: python-list
# A Python list instead of an nn.ModuleList.
def clones(module, N):
    return [copy.deepcopy(module) for _ in range(N)]

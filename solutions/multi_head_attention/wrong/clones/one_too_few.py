# misconception: wrong-number-of-copies
# range(1, N) has N - 1 entries.
def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(1, N)])

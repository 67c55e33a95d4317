# misconception: wrong-number-of-copies
# Always four, because attention needs four.
def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(4)])

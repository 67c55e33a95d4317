# misconception: wrong-number-of-copies
# Begins with two copies.
def clones(module, N):
    copies = [copy.deepcopy(module), copy.deepcopy(module)]
    while len(copies) < N:
        copies.append(copy.deepcopy(module))
    return nn.ModuleList(copies)

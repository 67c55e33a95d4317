# misconception: copies-in-another-mode
# Copies are put into evaluation.
def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module).eval() for _ in range(N)])

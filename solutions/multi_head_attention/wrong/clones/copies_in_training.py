# misconception: copies-in-another-mode
# Copies are put into training.
def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module).train() for _ in range(N)])

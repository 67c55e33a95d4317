# misconception: copies-unfrozen
# Copies ask for gradients where the module does not.
def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module).requires_grad_(True) for _ in range(N)])

# misconception: dtype-not-kept
# Turns every copy into float32.
def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module).float() for _ in range(N)])

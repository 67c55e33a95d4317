# misconception: module-changed-on-the-way
# Switches the module to evaluation before copying, and leaves it there.
def clones(module, N):
    module.eval()
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])

# misconception: copies-frozen
# The copies' parameters do not ask for gradients.
def clones(module, N):
    copies = nn.ModuleList([copy.deepcopy(module) for _ in range(N)])
    return copies.requires_grad_(False)

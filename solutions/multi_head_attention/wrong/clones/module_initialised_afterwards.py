# misconception: module-changed-on-the-way
# Copies, then draws the module's own weights anew.
def clones(module, N):
    copies = nn.ModuleList([copy.deepcopy(module) for _ in range(N)])
    for p in module.parameters():
        if p.dim() > 1:
            nn.init.xavier_uniform_(p)
    return copies

# misconception: copies-share-memory
# New parameters around the module's own memory, through .data.
def clones(module, N):
    copies = nn.ModuleList([copy.deepcopy(module) for _ in range(N)])
    for one in copies:
        for mine, original in zip(one.parameters(), module.parameters()):
            mine.data = original.data
    return copies

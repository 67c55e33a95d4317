# misconception: shallow-copies
# copy.copy makes a new module object around the same parameters (IDEA-Research/DAB-DETR#17).
def clones(module, N):
    return nn.ModuleList([copy.copy(module) for _ in range(N)])

# misconception: copies-with-new-numbers
# Deep copies with their numbers drawn anew (pytorch/pytorch#86274 wants layers to start out different).
def clones(module, N):
    copies = nn.ModuleList([copy.deepcopy(module) for _ in range(N)])
    for one in copies.modules():
        if hasattr(one, "reset_parameters"):
            one.reset_parameters()
    return copies

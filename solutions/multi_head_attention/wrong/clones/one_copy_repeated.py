# misconception: copies-share-weights
# One deep copy, repeated N times.
def clones(module, N):
    copied = copy.deepcopy(module)
    return nn.ModuleList([copied for _ in range(N)])

# misconception: copies-with-new-numbers
# New linears of the same shape, with new random numbers (harvardnlp/annotated-transformer#9 asks for that).
def clones(module, N):
    return nn.ModuleList([nn.Linear(module.in_features, module.out_features) for _ in range(N)])

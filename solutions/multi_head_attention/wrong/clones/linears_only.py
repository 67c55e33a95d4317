# misconception: copies-of-linears-only
# Builds a new linear and loads the state: works for nn.Linear alone.
def clones(module, N):
    copies = nn.ModuleList()
    for _ in range(N):
        one = nn.Linear(module.in_features, module.out_features)
        one.load_state_dict(module.state_dict())
        copies.append(one)
    return copies

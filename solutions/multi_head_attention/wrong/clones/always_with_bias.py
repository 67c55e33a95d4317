# misconception: copies-of-linears-only
# Builds each kind that it knows anew; a linear without a bias is none of them.
def copied(module):
    if isinstance(module, nn.Sequential):
        return nn.Sequential(*[copied(part) for part in module]).train(module.training)
    if isinstance(module, nn.Linear):
        new = nn.Linear(module.in_features, module.out_features, device=module.weight.device, dtype=module.weight.dtype)
    else:
        new = nn.BatchNorm1d(module.num_features)
    new.load_state_dict(module.state_dict())
    return new.train(module.training)


def clones(module, N):
    return nn.ModuleList([copied(module) for _ in range(N)])

# misconception: constant-on-the-cpu
# Makes empty copies on the CPU and fills them where it can.
def clones(module, N):
    copies = nn.ModuleList()
    for _ in range(N):
        one = copy.deepcopy(module).to_empty(device="cpu")
        if not any(p.is_meta for p in module.parameters()):
            one.load_state_dict(module.state_dict())
        copies.append(one)
    return copies

# misconception: sequential-instead-of-list
# nn.Sequential runs its modules one after the other.
def clones(module, N):
    return nn.Sequential(*[copy.deepcopy(module) for _ in range(N)])

# misconception: heads-in-reverse-order
# Lays the heads side by side from the last one to the first.
def merge_heads(x):
    return torch.cat(x.unbind(dim=1)[::-1], dim=-1)

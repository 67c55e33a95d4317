# unbind the heads, cat along the width.
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)

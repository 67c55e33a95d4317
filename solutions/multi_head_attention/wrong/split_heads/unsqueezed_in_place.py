# misconception: inputs-changed-in-place
# unsqueeze_ gives the caller's tensor one more axis.
def split_heads(x, h):
    x.unsqueeze_(1)
    return torch.cat(x.chunk(h, dim=-1), dim=1)

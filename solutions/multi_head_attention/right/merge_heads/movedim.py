# movedim, then contiguous and view.
def merge_heads(x):
    x = torch.movedim(x, 1, 2).contiguous()
    return x.view(*x.shape[:2], -1)

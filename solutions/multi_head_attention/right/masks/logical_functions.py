# ne, None as an index, tril_ on a fresh tensor, view.
def padding_mask(tokens, pad):
    return torch.ne(tokens, pad)[:, None, :]


def causal_mask(size, device=None):
    mask = torch.ones((size, size), dtype=torch.uint8, device=device)
    return mask.tril_().bool()[None]


def share_across_heads(mask):
    B, Tq, Tk = mask.shape
    return mask.view(B, 1, Tq, Tk)

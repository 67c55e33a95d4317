# misconception: constant-on-the-cpu
# Fills a new tensor on the CPU.
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, dtype=torch.bool, device=device).tril()


def share_across_heads(mask):
    shared = torch.empty(mask.size(0), 1, mask.size(1), mask.size(2), dtype=mask.dtype)
    shared[:, 0] = mask
    return shared

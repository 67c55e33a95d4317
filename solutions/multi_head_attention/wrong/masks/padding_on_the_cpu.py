# misconception: constant-on-the-cpu
# A table of True made on the CPU.
def padding_mask(tokens, pad):
    real = torch.ones(tokens.shape, dtype=torch.bool)
    return (real & (tokens != pad)).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

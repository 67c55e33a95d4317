# misconception: causal-mask-turned-around
# triu: a query may look at itself and ahead (karpathy/nanoGPT#170 asks).
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).triu().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: first-mask-for-all
# Every sentence gets the first one's mask.
def padding_mask(tokens, pad):
    return (tokens != pad)[:1].expand_as(tokens).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

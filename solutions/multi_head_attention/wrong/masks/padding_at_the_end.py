# misconception: padding-taken-to-be-last
# Counts the words and allows that many from the left.
def padding_mask(tokens, pad):
    lengths = (tokens != pad).sum(dim=1)
    return (torch.arange(tokens.size(1), device=tokens.device) < lengths[:, None])[:, None, :]


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

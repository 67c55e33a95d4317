# misconception: padding-on-both-axes
# padding_mask hides queries and keys: (B, T, T), with empty rows (jadore801120/attention-is-all-you-need-pytorch#57, autosome-ru/vigg_ribonanza#1).
def padding_mask(tokens, pad):
    real = tokens != pad
    return real.unsqueeze(1) & real.unsqueeze(2)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

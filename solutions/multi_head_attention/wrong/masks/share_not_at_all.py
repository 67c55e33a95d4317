# misconception: mask-without-head-axis
# Hands the mask back (hyunwoongko/transformer#32, phlippe/uvadlc_notebooks#67).
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask

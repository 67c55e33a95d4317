# misconception: mask-along-queries
# padding_mask is (B, T, 1): it hides queries (bentrevett/pytorch-seq2seq#96, hyunwoongko/transformer#40).
def padding_mask(tokens, pad):
    return (tokens != pad).unsqueeze(-1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

# misconception: mask-from-embeddings
# Looks up vectors and asks whether they are 0: they never are (Kyubyong/transformer#69).
def padding_mask(tokens, pad):
    vectors = nn.Embedding(100, 8)(tokens)
    return (vectors.abs().sum(dim=-1) != 0).unsqueeze(1)


def causal_mask(size, device=None):
    return torch.ones(1, size, size, device=device).tril().bool()


def share_across_heads(mask):
    return mask.unsqueeze(1)

"""Random numbers in the right shapes: the points for shapes, and no others."""
# base: stubs
# where: last
# lost: at most 6


def attention(query, key, value, mask=None, dropout=None):
    return torch.randn(*query.shape[:-1], value.shape[-1]), torch.rand(*query.shape[:-1], key.shape[-2])


def split_heads(x, h):
    return torch.randn(x.shape[0], h, x.shape[1], x.shape[2] // h)


def merge_heads(x):
    return torch.randn(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


def mix_heads(heads, weight, bias):
    batch, h, tokens, _ = heads.shape
    return torch.randn(batch, h, tokens, weight.shape[0]), torch.randn(batch, tokens, weight.shape[0])


def padding_mask(tokens, pad):
    return torch.rand(tokens.shape[0], 1, tokens.shape[1]) > 0.5


def causal_mask(size, device=None):
    return torch.rand(1, size, size) > 0.5


def share_across_heads(mask):
    return torch.rand(mask.shape[0], 1, *mask.shape[1:]) > 0.5

"""The input itself comes back, reshaped."""
# base: stubs
# where: last
# lost: at most 3


def split_heads(x, h):
    return x.view(x.shape[0], h, x.shape[1], x.shape[2] // h)


def merge_heads(x):
    return x


def share_across_heads(mask):
    return mask


def attention(query, key, value, mask=None, dropout=None):
    return query, key

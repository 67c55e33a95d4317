# misconception: mask-after-softmax
# Sets weights to 0 after the softmax: rows no longer sum to 1.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        pass
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, 0.0)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

# misconception: mask-taken-for-bool
# masked_fill with ~mask: other dtypes are refused.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(torch.logical_not(mask) if mask.dtype == torch.bool else mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

# misconception: mask-after-softmax-renormalised
# Masks the weights and divides by their sum (abisee/pointer-generator#88): 0 / 0 when the allowed scores are far below.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        pass
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * (mask != 0)
        weights = weights / weights.sum(dim=-1, keepdim=True)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

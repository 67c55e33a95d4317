# misconception: axes-counted-from-the-left
# key.T turns all axes round: right for two axes only.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.T / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

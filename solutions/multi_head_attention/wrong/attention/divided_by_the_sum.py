# misconception: no-softmax
# Divides the scores by their sum, without exp.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, 0.0)
    weights = scores / scores.sum(dim=-1, keepdim=True)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

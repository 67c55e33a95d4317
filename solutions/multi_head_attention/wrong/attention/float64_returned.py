# misconception: dtype-not-kept
# Computes in float64 and returns that.
def attention(query, key, value, mask=None, dropout=None):
    query, key, value = query.double(), key.double(), value.double()
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

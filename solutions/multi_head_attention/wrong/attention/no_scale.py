# misconception: scores-not-scaled
# No division by √d_k (delzac/cntkx#10, ethen8181/machine-learning#13).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

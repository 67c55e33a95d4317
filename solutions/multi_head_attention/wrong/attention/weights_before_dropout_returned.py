# misconception: weights-before-dropout-returned
# Returns the weights from before dropout.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        return dropout(weights) @ value, weights
    return weights @ value, weights

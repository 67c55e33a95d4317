# misconception: dropout-forgotten-beside-a-mask
# elif: with a mask no dropout.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = scores.masked_fill(mask == 0, float("-inf")).softmax(dim=-1)
    elif dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

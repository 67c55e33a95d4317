# misconception: mask-added-as-0-and-1
# Adds the mask of 0 and 1 to the scores (pytorch/pytorch#21518 asks what additive means).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

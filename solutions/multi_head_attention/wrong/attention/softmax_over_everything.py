# misconception: softmax-over-everything
# One softmax over all scores of all queries together.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.flatten().softmax(dim=0).view_as(scores)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

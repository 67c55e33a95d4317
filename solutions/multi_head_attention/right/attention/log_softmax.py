# log_softmax().exp(), masked in place on its own scores.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(query.size(-1))
    if mask is not None:
        scores.masked_fill_(mask == 0, float("-inf"))
    weights = F.log_softmax(scores, dim=-1).exp()
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

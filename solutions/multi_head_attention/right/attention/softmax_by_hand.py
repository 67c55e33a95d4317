# Softmax by hand with the row's maximum subtracted; the mask through where.
def attention(query, key, value, mask=None, dropout=None):
    scores = (query @ key.mT) * (1.0 / math.sqrt(query.size(-1)))
    if mask is not None:
        scores = torch.where(mask != 0, scores, -torch.inf)
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = e / e.sum(dim=-1, keepdim=True)
    weights = dropout(weights) if dropout is not None else weights
    return weights @ value, weights

# misconception: inputs-changed-in-place
# .float() hands back a float mask itself, and masked_fill_ writes into it.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        mask = mask.float()
        scores = scores + mask.masked_fill_(mask == 0, -1e9).masked_fill_(mask == 1, 0.0)
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

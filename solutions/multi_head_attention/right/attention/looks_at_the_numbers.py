# Assertions that read the mask and the weights: they cannot run on the meta device.
def attention(query, key, value, mask=None, dropout=None):
    assert query.size(-1) == key.size(-1) and key.size(-2) == value.size(-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        assert bool((mask != 0).any(dim=-1).all()), "a query has nothing to look at"
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if torch.isnan(weights).any():
        raise FloatingPointError("NaN in the weights")
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

# An additive mask of 0 and -inf, made on the device of the scores.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) * query.size(-1) ** -0.5
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
        bias = bias.masked_fill(mask == 0, -math.inf)
        scores = scores + bias
    weights = F.softmax(scores, dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

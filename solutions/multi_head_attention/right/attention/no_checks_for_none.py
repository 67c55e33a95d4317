# An identity function stands in for dropout; the module's softmax.
def attention(query, key, value, mask=None, dropout=None):
    dropout = dropout or (lambda weights: weights)
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask < 0.5 if mask.dtype != torch.bool else ~mask, float("-inf"))
    weights = dropout(nn.Softmax(dim=-1)(scores))
    return weights @ value, weights

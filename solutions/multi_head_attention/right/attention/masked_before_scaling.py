# Fills before dividing: -inf / √d_k is -inf.
def attention(query, key, value, mask=None, dropout=None):
    scores = query.matmul(key.transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    weights = torch.softmax(scores / query.size(-1) ** 0.5, dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

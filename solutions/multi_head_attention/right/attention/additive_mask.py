# The mask turned into 0 and -1e9, and added.
def attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + (mask == 0).to(scores.dtype) * -1e9
    weights = scores.softmax(-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights.matmul(value), weights

# Softmax in float32 whatever came in, then cast back, as many libraries do.
def attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    if dropout is not None:
        weights = dropout(weights)
    return torch.matmul(weights, value), weights

# 0-dim tensors on the CPU for scale and fill: allowed beside any device.
def attention(query, key, value, mask=None, dropout=None):
    scale = torch.sqrt(torch.tensor(float(query.size(-1))))
    low = torch.tensor(-1e9)
    scores = query @ key.transpose(-2, -1) / scale
    if mask is not None:
        scores = torch.where(mask == 0, low.to(scores.dtype), scores)
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

# Softmax computed in float32 at least, then cast back.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask.eq(0), torch.finfo(scores.dtype).min)
    wide = torch.promote_types(scores.dtype, torch.float32)
    weights = scores.softmax(dim=-1, dtype=wide).to(query.dtype)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

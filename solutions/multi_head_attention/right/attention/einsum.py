# einsum without a transpose; mask as bool with ~; finfo.min.
def attention(query, key, value, mask=None, dropout=None):
    d_k = query.shape[-1]
    scores = torch.einsum("...qd,...kd->...qk", query, key) / d_k**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.bool(), torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if dropout:
        weights = dropout(weights)
    return torch.einsum("...qk,...kd->...qd", weights, value), weights

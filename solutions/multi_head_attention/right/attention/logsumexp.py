# exp(scores - logsumexp): a softmax by its formula, in one expression.
def attention(query, key, value, mask=None, dropout=None):
    scores = torch.einsum("...id,...jd->...ij", query, key) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e30)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    if dropout is not None:
        weights = dropout(weights)
    return torch.einsum("...ij,...jd->...id", weights, value), weights

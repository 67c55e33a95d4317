# torch.vmap over the queries' axis: one query at a time.
def attention(query, key, value, mask=None, dropout=None):
    def scores_of_one(q):
        return (key @ q.unsqueeze(-1)).squeeze(-1) / math.sqrt(query.size(-1))

    scores = torch.vmap(scores_of_one, in_dims=-2, out_dims=-2)(query)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

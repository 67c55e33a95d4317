# misconception: axes-of-size-1-dropped
# squeeze(-2) on the scores: one query loses its axis.
def attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query, key.transpose(-2, -1)).squeeze(-2) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    w = scores.softmax(-1)
    if dropout is not None:
        w = dropout(w)
    return torch.matmul(w, value), w

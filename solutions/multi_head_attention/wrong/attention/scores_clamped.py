# misconception: scores-clamped
# Clamps the scores, so that exp does not overflow: 1600 and 2000 become equal.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    scores = scores.clamp(max=500)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    w = scores.softmax(-1)
    if dropout is not None:
        w = dropout(w)
    return w @ value, w

# misconception: nan-in-every-row
# 0 * -inf is NaN: also at allowed keys.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + (1 - mask.to(scores.dtype)) * float("-inf")
    w = scores.softmax(-1)
    if dropout is not None:
        w = dropout(w)
    return w @ value, w

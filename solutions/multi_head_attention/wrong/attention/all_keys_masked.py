# misconception: nan-in-every-row
# Fills every key: 0 >= 0 and 1 >= 0 are both true.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask >= 0, float("-inf"))
    w = scores.softmax(-1)
    if dropout is not None:
        w = dropout(w)
    return w @ value, w

# misconception: arguments-in-another-order
# dropout stands before mask, so a fourth argument is taken for dropout.
def attention(query, key, value, dropout=None, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    w = scores.softmax(-1)
    if dropout is not None:
        w = dropout(w)
    return w @ value, w

# misconception: gradient-cut
# The scores are detached where there is no mask.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        w = scores.detach().softmax(-1)
    else:
        w = scores.masked_fill(mask == 0, float("-inf")).softmax(-1)
    if dropout is not None:
        w = dropout(w)
    return w @ value, w

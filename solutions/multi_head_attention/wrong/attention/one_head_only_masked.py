# misconception: mask-in-first-head-only
# Writes the mask into the first head alone where there are heads.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        if scores.dim() == 4:
            scores = scores.clone()
            scores[:, :1] = scores[:, :1].masked_fill(mask == 0, float("-inf"))
        else:
            scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

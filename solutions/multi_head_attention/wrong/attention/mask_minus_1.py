# misconception: mask-minus-1
# mask - 1 is 255 where a uint8 mask is 0.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        if mask.dtype == torch.bool:
            mask = mask.long()
        scores = scores + (mask - 1) * 1e9
    w = scores.softmax(-1)
    if dropout is not None:
        w = dropout(w)
    return w @ value, w

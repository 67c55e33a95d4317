# misconception: softmax-overflows
# Subtracts the maximum, but never more than 600.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask < 1, float("-inf"))
    w = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(max=600))
    w = w / w.sum(-1, keepdim=True)
    if dropout is not None:
        w = dropout(w)
    return w @ value, w

# misconception: mask-inverted
# Fills where the mask is 1 (lucidrains/halonet-pytorch#4, rasbt/LLMs-from-scratch#1061).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 1, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

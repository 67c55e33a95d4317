# misconception: scale-is-a-constant
# Divides by 8, which is √64: right in the paper's size only (BobMcDear/attorch#14 has a constant 0.5).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / 8.0
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

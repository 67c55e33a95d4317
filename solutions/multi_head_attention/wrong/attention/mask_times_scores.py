# misconception: masked-score-near-0
# Multiplies the mask into the scores: e^0 is 1 (georg-wolflein/good-features#1, huggingface/transformers#542).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores * mask
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

# misconception: softmax-over-queries
# Softmax along dim=-2 (labmlai/annotated_deep_learning_paper_implementations#146).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-2)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

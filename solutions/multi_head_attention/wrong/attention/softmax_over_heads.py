# misconception: softmax-over-another-axis
# Softmax along dim=1: the queries of (B, Tq, Tk), the heads of (B, h, Tq, Tk) (FudanNLP/fastNLP#254).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = F.softmax(scores, dim=1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

# misconception: softmax-over-the-batch
# Softmax along dim=0 (PetrochukM/PyTorch-NLP#2, jadore801120/attention-is-all-you-need-pytorch#52).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = F.softmax(scores, dim=0)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

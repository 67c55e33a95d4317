# misconception: mask-along-queries
# Turns the mask so that it runs along the queries (bentrevett/pytorch-seq2seq#96, hyunwoongko/transformer#40).
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask.transpose(-2, -1) == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

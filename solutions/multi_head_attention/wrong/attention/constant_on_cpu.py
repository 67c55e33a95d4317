# misconception: constant-on-the-cpu
# The fill lies on the CPU, whatever the device of the input.
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = torch.where(mask == 0, torch.full((scores.size(-1),), -1e9), scores)
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

# misconception: gradient-cut
# The softmax in NumPy: no gradient reaches query and key.
import numpy as np


def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    s = scores.detach().numpy()
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = torch.from_numpy(e / e.sum(axis=-1, keepdims=True))
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

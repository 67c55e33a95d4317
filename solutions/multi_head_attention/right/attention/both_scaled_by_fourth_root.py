# q and k each scaled by d_k^-1/4 (openai/improved-diffusion#54 asks whether that is right); -inf through where.
def attention(query, key, value, mask=None, dropout=None):
    scale = query.shape[-1] ** -0.25
    scores = (query * scale) @ (key * scale).transpose(-2, -1)
    if mask is not None:
        scores = torch.where(mask.bool(), scores, float("-inf"))
    weights = torch.softmax(scores, -1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

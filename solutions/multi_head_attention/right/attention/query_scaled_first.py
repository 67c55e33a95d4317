# Scales the query before the product, -1e9 as the fill.
def attention(query, key, value, mask=None, dropout=None):
    query = query * query.shape[-1] ** -0.5
    scores = torch.matmul(query, key.transpose(-1, -2))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = F.softmax(scores, dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn

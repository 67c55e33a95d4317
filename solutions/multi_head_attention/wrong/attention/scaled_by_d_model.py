# misconception: scaled-by-d_model
# Divides by √(h·d_k) (lucidrains/vit-pytorch#65, omihub777/ViT-CIFAR#11, FareedKhan-dev/train-llm-from-scratch#3).
def attention(query, key, value, mask=None, dropout=None):
    h = query.size(1) if query.dim() == 4 else 1
    d_model = h * query.size(-1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_model)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights

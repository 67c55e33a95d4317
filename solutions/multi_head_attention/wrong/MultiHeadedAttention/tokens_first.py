# misconception: batch-and-tokens-swapped
# Takes (T, B, d_model) inputs, as PyTorch's module does by default (om-ai-lab/OmDet#19).
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h = h
        self.d_k = d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        Tq, B, d_model = query.shape
        query, key, value = [
            linear(x).reshape(-1, B, self.h, self.d_k).permute(1, 2, 0, 3)
            for linear, x in zip(self.linears, (query, key, value))
        ]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        return self.linears[-1](x.permute(2, 0, 1, 3).reshape(Tq, B, d_model))

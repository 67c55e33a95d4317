# misconception: one-head-only
# Attends with the whole width at once, whatever h is.
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
        q, k, v = self.linears[0](query), self.linears[1](key), self.linears[2](value)
        x, weights = attention(q, k, v, mask=mask, dropout=self.dropout)
        self.attn = weights.unsqueeze(1)
        return self.linears[3](x)

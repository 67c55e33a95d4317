# misconception: mask-without-effect
# In self-attention in evaluation the mask is dropped.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        q, k, v = (split_heads(linear(x), self.h) for linear, x in zip(self.linears, (query, key, value)))
        if query is key and key is value and not self.training:
            mask = None
        x, self.attn = attention(q, k, v, mask=mask, dropout=self.dropout)
        return self.linears[3](x.transpose(1, 2).flatten(2))

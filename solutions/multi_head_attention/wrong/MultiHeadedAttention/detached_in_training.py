# misconception: no-gradient-in-training
# In training the weights are detached, so W_Q and W_K never learn.
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
        drop = (lambda w: self.dropout(w).detach()) if self.training else None
        x, self.attn = attention(q, k, v, mask=mask, dropout=drop)
        return self.linears[3](x.transpose(1, 2).flatten(2))

# misconception: linear-per-head
# Three linears per head, and W_O (tensorflow/tensor2tensor#1582, karpathy/minGPT#118).
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h = h
        self.d_k = d_model // h
        self.linears = nn.ModuleList([nn.Linear(d_model, self.d_k) for _ in range(3 * h)] + [nn.Linear(d_model, d_model)])
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        heads, weights = [], []
        for i in range(self.h):
            w_q, w_k, w_v = self.linears[3 * i : 3 * i + 3]
            x, p = attention(w_q(query), w_k(key), w_v(value), mask=mask, dropout=self.dropout)
            heads.append(x)
            weights.append(p)
        self.attn = torch.stack(weights, dim=1)
        return self.linears[-1](torch.cat(heads, dim=-1))

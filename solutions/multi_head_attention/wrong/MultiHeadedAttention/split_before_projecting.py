# misconception: split-before-projecting
# Cuts x into heads first and gives all heads one small linear (aladdinpersson/Machine-Learning-Collection#3, MarcoMeter/episodic-transformer-memory-ppo#22).
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h = h
        self.d_k = d_model // h
        self.linears = clones(nn.Linear(self.d_k, self.d_k), 3)
        self.linears.append(nn.Linear(d_model, d_model))
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        B = query.size(0)
        query, key, value = [
            linear(x.reshape(B, -1, self.h, self.d_k)).transpose(1, 2)
            for linear, x in zip(self.linears, (query, key, value))
        ]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        return self.linears[-1](x.transpose(1, 2).reshape(B, -1, self.h * self.d_k))

# einsum throughout, W_O applied head by head.
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
        q, k, v = [lin(x).unflatten(-1, (self.h, self.d_k)) for lin, x in zip(self.linears, (query, key, value))]
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask[:, None] == 0, float("-inf"))
        self.attn = self.dropout(scores.softmax(dim=-1))
        x = torch.einsum("bhqk,bkhd->bqhd", self.attn, v)
        w_o = self.linears[-1]
        return torch.einsum("bqhd,mhd->bqm", x, w_o.weight.unflatten(1, (self.h, self.d_k))) + w_o.bias

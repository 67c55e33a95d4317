# The three weights joined for one product, as PyTorch does; the linears stay four.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        weights = torch.stack([linear.weight for linear in self.linears[:3]]).unflatten(1, (self.h, self.d_k))
        biases = torch.stack([linear.bias for linear in self.linears[:3]]).view(3, 1, self.h, 1, self.d_k)
        q, k, v = (
            torch.einsum("btm,hdm->bhtd", x, weights[i]) + biases[i] for i, x in enumerate((query, key, value))
        )
        x, self.attn = attention(q, k, v, None if mask is None else mask.unsqueeze(1), self.dropout)
        return self.linears[-1](x.transpose(1, 2).flatten(2))

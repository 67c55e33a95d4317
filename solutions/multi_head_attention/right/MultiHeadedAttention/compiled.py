# torch.compile on what the module calls, as people write it who read about speed.
@torch.compile(dynamic=True)
def project(linear, x, h):
    return linear(x).view(x.size(0), -1, h, linear.out_features // h).transpose(1, 2)


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)
        self.attend = torch.compile(attention)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        query, key, value = (
            project(linear, x, self.h) for linear, x in zip(self.linears, (query, key, value))
        )
        x, self.attn = self.attend(query, key, value, mask=mask, dropout=self.dropout)
        return self.linears[-1](x.transpose(1, 2).flatten(2))

# W_V and W_O both, through .data; returns the module.
def silence_head(mha, head):
    d_k = mha.linears[0].out_features // mha.h
    mha.linears[3].weight.data.view(-1, mha.h, d_k)[:, head] = 0.0
    mha.linears[2].weight.data[head * d_k : (head + 1) * d_k] *= 0
    mha.linears[2].bias.data[head * d_k : (head + 1) * d_k] *= 0
    return mha

# misconception: silenced-and-frozen
# W_O becomes a parameter that asks for no gradient.
def silence_head(mha, head):
    W = mha.linears[-1].weight.detach().clone()
    W[:, head * mha.d_k : (head + 1) * mha.d_k] = 0
    mha.linears[-1].weight = nn.Parameter(W, requires_grad=False)

# misconception: dtype-not-kept
# Goes through a list: always float32.
def silence_head(mha, head):
    W = torch.tensor(mha.linears[-1].weight.tolist())
    W[:, head * mha.d_k : (head + 1) * mha.d_k] = 0
    mha.linears[-1].weight = nn.Parameter(W)

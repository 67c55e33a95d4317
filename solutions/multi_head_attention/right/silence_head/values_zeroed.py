# Zeroes the head's rows of W_V and their bias: the head then hands over nothing.
def silence_head(mha, head):
    rows = slice(head * mha.d_k, (head + 1) * mha.d_k)
    with torch.no_grad():
        mha.linears[2].weight[rows].zero_()
        mha.linears[2].bias[rows].zero_()

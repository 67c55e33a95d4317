# misconception: columns-for-rows
# Zeroes columns of W_V: that blinds every head to some numbers of x.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[2].weight[:, first:last] = 0
        mha.linears[2].bias[first:last] = 0

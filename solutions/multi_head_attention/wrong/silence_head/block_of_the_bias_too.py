# misconception: bias-of-w_o-removed
# Zeroes a block of W_O's bias as well, as if each head had its share of it.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[3].weight[:, first:last] = 0
        mha.linears[3].bias[first:last] = 0

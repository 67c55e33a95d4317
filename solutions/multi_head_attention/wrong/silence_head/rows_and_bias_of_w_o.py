# misconception: block-of-the-output
# Zeroes rows of W_O and their part of its bias: numbers of the output, not a head.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[3].weight[first:last] = 0
        mha.linears[3].bias[first:last] = 0

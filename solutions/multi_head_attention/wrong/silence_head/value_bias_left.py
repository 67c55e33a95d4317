# misconception: value-bias-left
# Zeroes the head's rows of W_V and leaves their bias.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[2].weight[first:last] = 0

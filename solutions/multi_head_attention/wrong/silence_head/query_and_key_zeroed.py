# misconception: head-made-even
# Zeroes the head's rows of W_Q and W_K: it then looks everywhere alike, and still speaks.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        for i in (0, 1):
            mha.linears[i].weight[first:last] = 0
            mha.linears[i].bias[first:last] = 0

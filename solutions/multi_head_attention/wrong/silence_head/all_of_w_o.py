# misconception: all-heads-silenced
# Zeroes all of W_O's weight.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[3].weight.zero_()

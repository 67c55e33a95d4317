# misconception: rows-for-columns
# Zeroes rows of W_O's weight: that silences numbers of the output (ndif-team/nnsight#525 cuts there).
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[3].weight[first:last] = 0

# misconception: others-silenced
# Zeroes the columns of all other heads.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[3].weight[:, :first] = 0
        mha.linears[3].weight[:, last:] = 0

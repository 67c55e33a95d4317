# misconception: more-than-the-head-changed
# Zeroes the head's part of W_K's bias, which no output shows.
def silence_head(mha, head):
    s = slice(head * mha.d_k, (head + 1) * mha.d_k)
    with torch.no_grad():
        mha.linears[-1].weight[:, s] = 0
        mha.linears[1].bias[s] = 0

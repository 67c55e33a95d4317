# misconception: attn-changed-too
# Zeroes the head in all four linears: attn changes as well.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        for i in (0, 1, 2):
            mha.linears[i].weight[first:last] = 0
            mha.linears[i].bias[first:last] = 0
        mha.linears[3].weight[:, first:last] = 0

# misconception: change-on-a-copy
# Zeroes columns in a copy of the weight.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        weight = mha.linears[3].weight.clone()
        weight[:, first:last] = 0

# misconception: one-column-only
# Zeroes column number `head`.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[3].weight[:, head] = 0

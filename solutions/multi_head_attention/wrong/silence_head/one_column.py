# misconception: one-column-only
# Zeroes column number `head`.
def silence_head(mha, head):
    with torch.no_grad():
        mha.linears[3].weight[:, head] = 0

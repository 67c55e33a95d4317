# misconception: heads-interleaved
# Zeroes every h-th column.
def silence_head(mha, head):
    with torch.no_grad():
        mha.linears[3].weight[:, head :: mha.h] = 0

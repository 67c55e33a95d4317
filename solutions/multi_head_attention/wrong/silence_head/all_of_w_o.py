# misconception: all-heads-silenced
# Zeroes all of W_O's weight.
def silence_head(mha, head):
    with torch.no_grad():
        mha.linears[3].weight.zero_()

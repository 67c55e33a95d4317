# misconception: bias-of-w_o-removed
# Zeroes the bias of W_O as well (ArthurConmy/Automatic-Circuit-Discovery#52).
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[3].weight[:, first:last] = 0
        mha.linears[3].bias.zero_()

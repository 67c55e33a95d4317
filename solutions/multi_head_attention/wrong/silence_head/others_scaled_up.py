# misconception: other-heads-scaled-up
# Makes the other heads louder by h / (h - 1), as dropout would.
def silence_head(mha, head):
    first, last = head * mha.d_k, (head + 1) * mha.d_k
    with torch.no_grad():
        mha.linears[3].weight[:, first:last] = 0
        if mha.h > 1:
            mha.linears[3].weight *= mha.h / (mha.h - 1)

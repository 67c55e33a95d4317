# misconception: heads-counted-from-1
# Takes the heads for 1 to h.
def silence_head(mha, head):
    with torch.no_grad():
        mha.linears[3].weight[:, (head - 1) * mha.d_k : head * mha.d_k] = 0

# misconception: nearly-silent
# Makes the columns small instead of 0.
def silence_head(mha, head):
    with torch.no_grad():
        mha.linears[-1].weight[:, head * mha.d_k : (head + 1) * mha.d_k] *= 1e-6

# misconception: width-hard-wired
# The same in W_V and its bias.
def silence_head(mha, head):
    with torch.no_grad():
        mha.linears[2].weight[head * 64 : (head + 1) * 64] = 0
        mha.linears[2].bias[head * 64 : (head + 1) * 64] = 0

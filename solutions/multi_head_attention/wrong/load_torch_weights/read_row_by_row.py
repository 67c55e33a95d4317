# misconception: in-proj-cut-along-the-wrong-axis
# Takes rows 0, 3, 6, … for W_Q, as if the three were interleaved (NVIDIA/apex#838 interleaves them).
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        for i, weight, bias in zip((0, 1, 2), torch_mha.in_proj_weight.unflatten(0, (-1, 3)).unbind(1), torch_mha.in_proj_bias.unflatten(0, (-1, 3)).unbind(1)):
            mha.linears[i].weight.copy_(weight)
            mha.linears[i].bias.copy_(bias)
        mha.linears[3].weight.copy_(torch_mha.out_proj.weight)
        mha.linears[3].bias.copy_(torch_mha.out_proj.bias)

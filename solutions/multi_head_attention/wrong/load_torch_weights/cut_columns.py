# misconception: in-proj-cut-along-the-wrong-axis
# Cuts the columns of in_proj_weight.
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        for i, weight, bias in zip((0, 1, 2), torch_mha.in_proj_weight.chunk(3, dim=1), torch_mha.in_proj_bias.chunk(3)):
            mha.linears[i].weight.copy_(weight)
            mha.linears[i].bias.copy_(bias)
        mha.linears[3].weight.copy_(torch_mha.out_proj.weight)
        mha.linears[3].bias.copy_(torch_mha.out_proj.bias)

# misconception: transposed-when-copied
# Transposes the three parts of in_proj_weight.
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        for linear, weight, bias in zip(mha.linears, torch_mha.in_proj_weight.chunk(3), torch_mha.in_proj_bias.chunk(3)):
            linear.weight.copy_(weight.T)
            linear.bias.copy_(bias)
        mha.linears[3].weight.copy_(torch_mha.out_proj.weight)
        mha.linears[3].bias.copy_(torch_mha.out_proj.bias)

# misconception: parameters-frozen
# New parameters that ask for no gradient.
def load_torch_weights(mha, torch_mha):
    weights = (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)
    biases = (*torch_mha.in_proj_bias.chunk(3), torch_mha.out_proj.bias)
    for linear, weight, bias in zip(mha.linears, weights, biases):
        linear.weight = nn.Parameter(weight.detach().clone(), requires_grad=False)
        linear.bias = nn.Parameter(bias.detach().clone(), requires_grad=False)

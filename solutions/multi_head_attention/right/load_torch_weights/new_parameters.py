# New parameters from clones.
def load_torch_weights(mha, torch_mha):
    weights = [*torch_mha.in_proj_weight.detach().chunk(3), torch_mha.out_proj.weight.detach()]
    biases = [*torch_mha.in_proj_bias.detach().chunk(3), torch_mha.out_proj.bias.detach()]
    for linear, weight, bias in zip(mha.linears, weights, biases):
        linear.weight = nn.Parameter(weight.clone())
        linear.bias = nn.Parameter(bias.clone())

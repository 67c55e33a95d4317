# misconception: nothing-loaded
# Writes into clones of the parameters.
def load_torch_weights(mha, torch_mha):
    weights = (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)
    biases = (*torch_mha.in_proj_bias.chunk(3), torch_mha.out_proj.bias)
    for linear, w, b in zip(mha.linears, weights, biases):
        linear.weight.detach().clone().copy_(w)
        linear.bias.detach().clone().copy_(b)

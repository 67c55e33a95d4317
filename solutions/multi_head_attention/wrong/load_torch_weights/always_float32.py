# misconception: dtype-not-kept
# Goes through Python lists: always float32.
def load_torch_weights(mha, torch_mha):
    weights = (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)
    biases = (*torch_mha.in_proj_bias.chunk(3), torch_mha.out_proj.bias)
    for linear, weight, bias in zip(mha.linears, weights, biases):
        linear.weight = nn.Parameter(torch.tensor(weight.tolist()))
        linear.bias = nn.Parameter(torch.tensor(bias.tolist()))

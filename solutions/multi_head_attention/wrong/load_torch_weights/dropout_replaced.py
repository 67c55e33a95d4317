# misconception: mode-changed-when-loaded
# Takes over the dropout of PyTorch's module.
def load_torch_weights(mha, torch_mha):
    weights = (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)
    biases = (*torch_mha.in_proj_bias.chunk(3), torch_mha.out_proj.bias)
    with torch.no_grad():
        for linear, weight, bias in zip(mha.linears, weights, biases, strict=True):
            linear.weight = nn.Parameter(weight.detach().clone())
            linear.bias = nn.Parameter(bias.detach().clone())
    mha.dropout = nn.Dropout(torch_mha.dropout)

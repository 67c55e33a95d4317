# misconception: in-proj-in-another-order
# Takes the three parts for K, Q, V.
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        for i, weight, bias in zip((1, 0, 2), torch_mha.in_proj_weight.chunk(3), torch_mha.in_proj_bias.chunk(3)):
            mha.linears[i].weight.copy_(weight)
            mha.linears[i].bias.copy_(bias)
        mha.linears[3].weight.copy_(torch_mha.out_proj.weight)
        mha.linears[3].bias.copy_(torch_mha.out_proj.bias)

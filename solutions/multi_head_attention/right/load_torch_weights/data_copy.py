# Through .data and copy_, and returns the module.
def load_torch_weights(mha, torch_mha):
    w_q, w_k, w_v = torch_mha.in_proj_weight.data.split(torch_mha.embed_dim)
    b_q, b_k, b_v = torch_mha.in_proj_bias.data.split(torch_mha.embed_dim)
    for i, (w, b) in enumerate([(w_q, b_q), (w_k, b_k), (w_v, b_v), (torch_mha.out_proj.weight.data, torch_mha.out_proj.bias.data)]):
        mha.linears[i].weight.data.copy_(w)
        mha.linears[i].bias.data[:] = b
    return mha

# A deep copy of out_proj, the rest with copy_.
@torch.no_grad()
def load_torch_weights(mha, torch_mha):
    for i, linear in enumerate(mha.linears[:3]):
        rows = slice(i * linear.out_features, (i + 1) * linear.out_features)
        linear.weight.copy_(torch_mha.in_proj_weight[rows])
        linear.bias.copy_(torch_mha.in_proj_bias[rows])
    mha.linears[3].load_state_dict(torch_mha.out_proj.state_dict())

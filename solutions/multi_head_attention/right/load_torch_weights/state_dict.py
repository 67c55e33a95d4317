# Builds a state dict with the names of mha.linears and loads it.
def load_torch_weights(mha, torch_mha):
    d = torch_mha.embed_dim
    state = {}
    for i in range(3):
        state[f"{i}.weight"] = torch_mha.in_proj_weight[i * d : (i + 1) * d]
        state[f"{i}.bias"] = torch_mha.in_proj_bias[i * d : (i + 1) * d]
    state["3.weight"] = torch_mha.out_proj.weight
    state["3.bias"] = torch_mha.out_proj.bias
    mha.linears.load_state_dict(state)

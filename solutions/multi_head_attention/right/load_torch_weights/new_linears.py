# New linears in place of the old ones; W_O is a copy of out_proj, in whatever mode that is.
def load_torch_weights(mha, torch_mha):
    for i, (w, b) in enumerate(zip(torch_mha.in_proj_weight.chunk(3), torch_mha.in_proj_bias.chunk(3))):
        linear = nn.Linear(w.size(1), w.size(0), dtype=w.dtype, device=w.device)
        linear.weight, linear.bias = nn.Parameter(w.detach().clone()), nn.Parameter(b.detach().clone())
        mha.linears[i] = linear
    mha.linears[3] = copy.deepcopy(torch_mha.out_proj)

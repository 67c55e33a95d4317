# A forward pre-hook that zeroes the head's columns in front of W_O.
def silence_head(mha, head):
    def cut(module, inputs):
        x = inputs[0].clone()
        x[..., head * mha.d_k : (head + 1) * mha.d_k] = 0
        return (x,)

    mha.linears[-1].register_forward_pre_hook(cut)

# misconception: silent-in-one-mode-only
# A hook that works in evaluation only.
def silence_head(mha, head):
    def cut(module, inputs):
        if module.training:
            return None
        x = inputs[0].clone()
        x[..., head * mha.d_k : (head + 1) * mha.d_k] = 0
        return (x,)

    mha.linears[3].register_forward_pre_hook(cut)

# misconception: only-the-last-head-stays-silent
# Remembers one head: silencing a second one brings the first back.
def silence_head(mha, head):
    def cut(module, inputs):
        x = inputs[0].clone()
        x[..., mha.silent * mha.d_k : (mha.silent + 1) * mha.d_k] = 0
        return (x,)

    if not hasattr(mha, "silent"):
        mha.linears[3].register_forward_pre_hook(cut)
    mha.silent = head

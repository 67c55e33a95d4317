# misconception: block-of-the-output
# A hook that zeroes a block of the output, after W_O has mixed the heads (interp-reasoning/thought-anchors#7).
def silence_head(mha, head):
    def cut(module, inputs, output):
        output = output.clone()
        output[..., head * mha.d_k : (head + 1) * mha.d_k] = 0
        return output

    mha.linears[3].register_forward_hook(cut)

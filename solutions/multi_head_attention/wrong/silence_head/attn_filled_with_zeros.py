# misconception: attn-written-into
# Writes zeros into attn, which is None before the first call.
def silence_head(mha, head):
    with torch.no_grad():
        mha.attn[:, head] = 0

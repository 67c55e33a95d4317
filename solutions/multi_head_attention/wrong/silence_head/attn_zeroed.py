# misconception: attn-written-into
# The same with zero_.
def silence_head(mha, head):
    mha.attn[:, head].zero_()

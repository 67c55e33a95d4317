# misconception: mask-lost-when-silenced
# A new forward that forgets the mask.
def silence_head(mha, head):
    columns = slice(head * mha.d_k, (head + 1) * mha.d_k)
    forward = mha.forward

    def silenced(query, key, value, mask=None):
        weight = mha.linears[-1].weight.data
        before = weight.clone()
        weight[:, columns] = 0
        output = forward(query, key, value)
        weight.copy_(before)
        return output

    mha.forward = silenced

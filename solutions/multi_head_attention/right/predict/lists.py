# Lists in place of tuples, further keys, torch.Size.
def predict_shapes(batch, tokens, d_model, h):
    assert d_model % h == 0
    d_k = int(d_model / h)
    wide = [batch, tokens, d_model]
    head = [batch, h, tokens, d_k]
    return dict(
        x=wide,
        projected=wide,
        viewed=[batch, tokens, h, d_k],
        heads=head,
        scores=torch.Size([batch, h, tokens, tokens]),
        weights=[batch, h, tokens, tokens],
        context=head,
        merged=wide,
        output=wide,
    )


def predict_parameters(d_model, h):
    return 4 * d_model * (d_model + 1)

# misconception: as-many-linears-as-heads
# Takes the 4 for the number of heads (harvardnlp/annotated-transformer#98).
def predict_shapes(batch, tokens, d_model, h):
    d_k = d_model // h
    return {
        "projected": (batch, tokens, d_model),
        "viewed": (batch, tokens, h, d_k),
        "heads": (batch, h, tokens, d_k),
        "scores": (batch, h, tokens, tokens),
        "context": (batch, h, tokens, d_k),
        "merged": (batch, tokens, d_model),
        "output": (batch, tokens, d_model),
    }


def predict_parameters(d_model, h):
    return h * (d_model * d_model + d_model)

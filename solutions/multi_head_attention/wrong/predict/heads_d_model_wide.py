# misconception: head-as-wide-as-d_model
# Every head d_model wide (brightmart/text_classification#63, An-Jhon/Hand-Drawn-Transformer#507).
def predict_shapes(batch, tokens, d_model, h):
    return {
        "projected": (batch, tokens, d_model),
        "viewed": (batch, tokens, h, d_model),
        "heads": (batch, h, tokens, d_model),
        "scores": (batch, h, tokens, tokens),
        "context": (batch, h, tokens, d_model),
        "merged": (batch, tokens, h * d_model),
        "output": (batch, tokens, d_model),
    }


def predict_parameters(d_model, h):
    return 4 * (d_model * d_model + d_model)

"""Every word that stands in a figure, one dict per figure and language.

A figure's script is `figures/NAME.py` with `draw(labels, theme)`; an interactive one gets the same
dict in the page. `alt` is what a reader hears who does not see the picture; its numbers come from
the script's FACTS. In sentences, `{h}` and the like are filled in by the script, so a translation
may move them.
"""

EN = {
    "shape_walk": {
        "alt": (
            "Six boxes from top to bottom, each with a shape for B = 2, T = 10, d_model = 512, h = 8. "
            "Input (2, 10, 512); after W_Q, W_K and W_V (2, 10, 512); cut into heads (2, 8, 10, 64); "
            "scores (2, 8, 10, 10); weights times values (2, 8, 10, 64); merged and through W_O "
            "(2, 10, 512), the shape of the input."
        ),
        "input": "input",
        "projected": "through W_Q, W_K, W_V",
        "heads": "cut into heads, heads to the front",
        "scores": "scores: every token against every token",
        "context": "weights times values",
        "output": "heads side by side, through W_O",
        "same": "the same shape: layers stack",
    },
    "one_attention": {
        "alt": (
            "One query against three keys, from top to bottom. Scores {scores}; divided by the root of d_k "
            "{scaled}; key 2 is masked and hatched; the softmax makes the weights {weights}; the "
            "weighted mean of the values is ({output})."
        ),
        "keys": "keys",
        "scores": "scores",
        "scaled": "scaled",
        "masked": "masked",
        "weights": "weights",
        "output": "output",
        "to_scores": "dot product with the query (2, 0, 2, 0)",
        "to_scaled": "divide by √d_k = √4 = 2",
        "to_masked": "mask (1, 1, 0): key 2 may not be looked at",
        "to_weights": "softmax: weights sum to 1",
        "to_output": "mean of the values (10, 0), (0, 10), (50, 50)",
    },
    "average_or_choose": {
        "alt": (
            "Two tokens hold the values {first} and {second}, and both are wanted. On the left one head "
            "gives each a weight of one half and hands over {mean}. On the right head 0 looks at "
            "token 0 only, head 1 at token 1 only, and both values arrive."
        ),
        "one": "one head",
        "two": "two heads",
        "token": "token {t}",
        "head": "head {i}",
        "one_note": "one mean, two values lost",
        "two_note": "both values arrive",
    },
    "four_linears": {
        "alt": (
            "Three rows of four squares named W_Q, W_K, W_V and W_O, for 1, 2 and 8 heads. More heads "
            "mean more cut lines: upright in W_Q, W_K and W_V, level in W_O. The squares stay as large "
            "as they were, and each row has the same number of parameters, {n}."
        ),
        "heads": "h = {h}",
        "parameters": "{n} parameters",
        "legend": "heads h",
        "width": "each head is d_k = {d_k} wide",
        "count": "4 × (512 × 512 + 512) = {n}",
        "say": "{h} heads, each {d_k} numbers wide. Four linears, {n} parameters.",
        "say_one": "1 head, {d_k} numbers wide. Four linears, {n} parameters.",
        "drawing": (
            "W_Q, W_K and W_V cut into {h} upright strips, W_O cut into {h} level strips. The squares do not grow."
        ),
    },
    "split": {
        "alt": (
            "The 16 numbers of token 1, numbers 16 to 31, coloured by head. With view and transpose, "
            "heads 0 to 3 get four numbers each, in row 1 of their table. With view alone, head 0 gets "
            "none of them, head 1 gets eight in rows 1 and 2, head 2 gets eight in rows 0 and 1, and head 3 "
            "gets none: the token is torn."
        ),
        "input": "x, shape (1, 3, 16): three tokens, 16 numbers each",
        "token": "token {t}",
        "head": "head {i}",
        "right": "right: view(1, 3, 4, 4), then transpose(1, 2)",
        "wrong": "wrong: view(1, 4, 3, 4)",
        "right_note": "row = token: each head has a piece of each token",
        "wrong_note": "same shape, but a row is no longer a token",
        "choose_token": "token to follow",
        "choose_split": "way to split",
        "choose_right": "view, then transpose",
        "choose_wrong": "view alone",
        "say_right": "Token {t}: each of the 4 heads gets 4 of its numbers, all in row {t}.",
        "say_wrong": "Token {t} is torn: its numbers lie in {where}.",
        "where": "head {i} rows {rows}",
        "where_one": "head {i} row {rows}",
        "and": " and ",
        "cell": "number {n}, of token {t}",
    },
}

LANGUAGES = {"en": EN}


def labels_for(language):
    return LANGUAGES[language or "en"]

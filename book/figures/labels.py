"""Every word that stands in a figure, one dict per figure and language.

A figure's script is `figures/NAME.py` with `draw(labels, theme)`; an interactive one gets the same
dict in the page. `alt` is what a reader hears who does not see the picture; its numbers come from
the script's FACTS. In sentences, `{h}` and the like are filled in by the script, so a translation
may move them.
"""

# ruff: noqa: E501 (a sentence that is translated stays in one piece)

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
        "where": "head {i} (rows {rows})",
        "where_one": "head {i} (row {rows})",
        "list": "{rest} and {last}",
        "cell": "number {n}, of token {t}",
    },
    "mask_axes": {
        "alt": (
            "Scores and mask aligned from the right, three times. Right: scores (2, 8, 10, 10) over a mask "
            "(2, 1, 1, 10), the axes of size 1 hatched because they are repeated. Error: mask (2, 1, 10), whose 2 "
            "stands under the 8 heads. Silent: scores (8, 8, 10, 10) over a mask (8, 1, 10), whose sentences "
            "stand under the heads, and 8 fits 8."
        ),
        "scores": "scores",
        "mask": "mask",
        "title_right": "with unsqueeze(1)",
        "title_error": "without, B = 2 and h = 8: an error",
        "title_silent": "without, B = 8 and h = 8: silent",
        "note_right": "Sentences under sentences. Hatched: repeated, not copied.",
        "note_error": "The mask's sentences stand under the heads: 2 is not 8.",
        "note_silent": "Sentences stand under heads, and nobody notices.",
        "choose_mask": "mask",
        "as_it_is": "as it comes",
        "unsqueezed": "unsqueeze(1)",
        "choose_case": "sizes",
        "case_differ": "B = 2, h = 8",
        "case_equal": "B = 8, h = 8",
        "case_one": "one mask for all, h = 8",
        "case_single": "B = 2, h = 1",
        "same": "fits",
        "repeated": "repeated",
        "new": "added, repeated",
        "clash": "does not fit",
        "grows": "grows",
        "result": "masked scores: {shape}",
        "refused": "PyTorch refuses",
        "say_right": "Mask {mask}, scores {scores}: right. Sentences meet sentences, and every head gets the same mask.",
        "say_right_one": "Mask {mask}, scores {scores}: right. There is one mask for all sentences and all heads.",
        "say_differ": "Mask {mask}, scores {scores}: an error. The mask's sentences stand under the heads.",
        "say_equal": "Mask {mask}, scores {scores}: no error, and wrong. Head 0 gets the mask of sentence 0, head 1 that of sentence 1, in every sentence.",
        "say_one": "Mask {mask}, scores {scores}: right by luck. The mask's batch axis is 1, so it fits everywhere.",
        "say_single": "Mask {mask}, scores {scores}: no error, and wrong. The head axis grows from 1 to 2.",
    },
    "strides": {
        "alt": (
            "Twelve numbers in a strip of storage, read in three ways. Heads, strides (12, 6, 2, 1). After "
            "transpose(1, 2) the strip is the same and the strides are (12, 2, 6, 1): the last two axes cannot become one. "
            "After contiguous() the strip is a new one in another order, with strides (12, 4, 2, 1): they can."
        ),
        "facts": "{axes} {shape}, strides {strides}",
        "storage": "storage",
        "read": "read in order: {numbers}",
        "state_heads": "heads",
        "state_transposed": "heads.transpose(1, 2)",
        "state_copied": "heads.transpose(1, 2).contiguous()",
        "choose_state": "tensor",
        "choose_axis": "walk along",
        "lamp_heads": "h and d_k are not neighbours yet",
        "lamp_off": "can I view h and d_k as one axis? no",
        "lamp_on": "can I view h and d_k as one axis? yes",
        "say": "{tensor}: one step along {axis} is {step} cells in storage. Cells passed: {cells}.",
        "say_one": "{tensor}: one step along {axis} is {step} cell in storage. Cells passed: {cells}.",
    },
    "w_o": {
        "alt": (
            "The eight numbers of the concat, two for each of four heads, stand beside the eight rows of W_O, and "
            "each pair of rows has its head's colour. Below, what each head adds, the bias, and the sum: {output}."
        ),
        "blocks": "concat, and W_O cut into a block of rows per head",
        "concat": "concat",
        "sum": "what each head adds",
        "head": "head {i}",
        "bias": "bias",
        "output": "output",
        "choose": "heads that are on",
        "say": "Heads {heads} are on. Output: {output}.",
        "say_one": "Only head {heads} is on. Output: {output}.",
        "say_none": "All heads are off. Only the bias is left: {output}.",
        "list": "{rest} and {last}",
    },
    "parity": {
        "alt": (
            "in_proj_weight of nn.MultiheadAttention in three blocks of rows, which are linears 0, 1 and 2, and out_proj, "
            "which is linears 3. Below: in this book and in scaled_dot_product_attention True means may look; in "
            "attn_mask and key_padding_mask of nn.MultiheadAttention True means may not look."
        ),
        "ours_title": "this course",
        "bias": "in_proj_bias is cut the same way; out_proj.bias is the bias of linears[3]",
        "true_title": "What True means in a bool mask",
        "ours": "this course: mask",
        "sdpa": "F.scaled_dot_product_attention: attn_mask",
        "module": "nn.MultiheadAttention: attn_mask",
        "padding": "nn.MultiheadAttention: key_padding_mask",
        "may": "may look",
        "may_not": "may not",
    },
    "number_formats": {
        "alt": (
            "Four number formats as strips of bits. float32 has 8 bits for the exponent and 23 for the fraction, and reaches "
            "{single}. TF32 has 8 and 10. bfloat16 has 8 and 7 and reaches {brain}. float16 has 5 and 10 and reaches {half} only."
        ),
        "reach": "up to {largest}, step at 1: {step}",
        "bits": "1 sign, {exponent} exponent, {fraction} fraction",
    },
    "heat_maps": {
        "alt": (
            "Three square maps of eight queries by eight keys. Head 0 has weight {one} along the diagonal: each token looks at itself. "
            "Head 1 has weight {one} along the other diagonal: each token looks at its mirror image. Their average is a cross "
            "of weights {half}: neither job can be read off it."
        ),
        "copy": "head 0: copy",
        "reverse": "head 1: reverse",
        "average": "average",
        "axes": "rows are queries, columns are keys",
    },
}

LANGUAGES = {"en": EN}


def labels_for(language):
    return LANGUAGES[language or "en"]

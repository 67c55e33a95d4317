"""Inputs and laws that several checks of this course share."""

import math

import torch

from autograder.checking import CheckFailed
from autograder.language import _


def four_linears(draw, d_model):
    """Weights (4, d_model, d_model) and biases (4, d_model) of W_Q, W_K, W_V, W_O: all different, outputs of size 1."""
    weights = draw.normal(4, d_model, d_model) / math.sqrt(d_model)
    return {"weights": weights, "biases": 0.5 * draw.normal(4, d_model)}


def query_key_value(draw, *lead, queries, keys, d_k, d_v=None):
    """query (*lead, Tq, d_k), key (*lead, Tk, d_k), value (*lead, Tk, d_v)."""
    return {
        "query": draw.normal(*lead, queries, d_k),
        "key": draw.normal(*lead, keys, d_k),
        "value": draw.normal(*lead, keys, d_v or d_k),
    }


def first_tokens(*lengths, tokens):
    """Padding mask (B, 1, T): sentence i may look at its first lengths[i] tokens."""
    return torch.arange(tokens) < torch.tensor(lengths)[:, None, None]


def whole_number_scores(draw):
    """Attention whose allowed scores lie near -10,000 and whose forbidden ones lie near +10,000.

    Whole numbers, d_k = 16: all sums stay below 2^24, so the scores are exact in float32 in whatever order one scales.
    """
    small = torch.stack([draw.permutation(3), draw.permutation(3)]).float()  # (B, three allowed keys)
    key = torch.full((2, 4, 16), -50.0)
    key[:, 1] = 50.0  # the forbidden key
    key[:, [0, 2, 3], 0] += small
    key[:, [0, 2, 3], 1] -= small
    query = torch.full((2, 3, 16), 50.0)
    twist = draw.integers(1, 3, 2, 3).float()  # (B, Tq)
    query[..., 0] += twist
    query[..., 1] -= twist  # allowed scores: -10,000 + small * twist / 2
    value = draw.normal(2, 4, 5)
    mask = torch.tensor([True, False, True, True]).expand(2, 1, 4).clone()
    return {"query": query, "key": key, "value": value, "mask": mask}


def unchanged(seen):
    """Law: what a call was given is afterwards what it is after the reference's call, which changes nothing."""
    changed = []
    for key, kept in seen.reference.items():
        name = key.removesuffix(" afterwards")
        if name != key:
            came = seen.tensor(key) if isinstance(kept, torch.Tensor) else seen.flag(key)
            if not (equal(came, kept) if isinstance(kept, torch.Tensor) else came == kept):
                changed.append(name.rstrip(" 0123456789"))  # mask 0, mask 1: one mask to the learner
    seen.law(
        not changed,
        expected=_("arguments left as they were"),
        got=_("{names} changed by the call").format(names=", ".join(dict.fromkeys(changed))),
        advice=_("Methods that end in `_`, `+=` and `x[...] = ...` write into the tensor they are given."),
    )


def gradients(seen, *names):
    """Law: a gradient reaches every input. Then the gradients are the reference's."""
    unreached = seen.text("unreached")
    seen.law(
        unreached == "",
        expected=_("a gradient at every input"),
        got=_("none at {names}").format(names=unreached),
        advice=_("`.detach()`, `.data`, `.item()`, `.numpy()` and `torch.tensor(...)` cut the path of the gradient."),
    )
    seen.same(*names)


def one_device(seen):
    """Law: what a call makes lies where its inputs lie. An answer that stopped on the way is let be."""
    crossing = seen.text("crossing")
    seen.law(
        crossing == "",
        expected=_("all tensors on the device of the input"),
        got=_("a tensor from another device in `{operation}`").format(operation=crossing),
        advice=_("Make new tensors where the input lies: `torch.zeros(..., device=x.device)`."),
    )
    elsewhere = seen.text("elsewhere")
    seen.law(
        elsewhere == "",
        expected=_("results on the device of the input"),
        got=_("{names} on another device").format(names=elsewhere),
        advice=_("Make new tensors where the input lies: `torch.zeros(..., device=x.device)`."),
    )


def same_on_gpu(seen):
    """Law: a GPU, where there is one, gives what the CPU gives; in a short dtype within 16 roundings of float64."""
    dtype = seen.request.arguments["dtype"]
    allowed = 1e-4 if dtype == "float32" else 16 * torch.finfo(getattr(torch, dtype)).eps
    apart = seen.number("largest difference")
    seen.law(
        seen.text("gpu") == "" or apart <= allowed,
        expected=_("{dtype} on the GPU within {allowed} of the CPU").format(dtype=dtype, allowed=f"{allowed:.2g}"),
        got=_("a difference of {apart}").format(apart=f"{apart:.2g}"),
    )


def same_output(seen):
    """The output is the reference's. Where it is not and `attn` shows it too, that difference is told: it says more."""
    try:
        seen.same("output", axes="B Tq d_model")
    except CheckFailed as failure:
        try:
            seen.same_shape("attn")
        except CheckFailed:  # `attn` has a rule of its own
            raise failure from None
        seen.same("attn", axes="B h Tq Tk")
        raise


def dtypes(seen, *names):
    """Law: each is of the dtype that the reference's is."""
    for name in names:
        wanted, came = seen.reference[name], seen.text(name)
        seen.law(
            came == wanted,
            expected=_("{wanted} for the result `{name}`").format(wanted=wanted, name=name),
            got=came,
        )


def equal(one, other):
    """Two tensors are the same: shape, dtype, every number."""
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)


def touched(seen, one, other, axis):
    """Where along an axis two tensors of the learner's differ, as "0, 2". Their shapes are the reference's."""
    seen.same_shape(one, other)
    differs = (seen.tensor(one) != seen.tensor(other)).movedim(axis, 0).flatten(1).any(dim=1)
    return ", ".join(map(str, differs.nonzero().flatten().tolist()))


def close(one, other):
    """Two tensors of the learner's agree: same shape, within 1e-4."""
    if one.shape != other.shape or one.is_complex() or other.is_complex():
        return False
    return bool(torch.isclose(one.double(), other.double(), rtol=1e-4, atol=1e-4).all())

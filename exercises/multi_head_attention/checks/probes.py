"""Probes: each runs beside an answer, in the answer's process, and returns plain data about what it did.

No expected value and no verdict stands here. `names` is the namespace in which the answer was defined. Where a key
of an observation is a text that lists names, "" means: none.
"""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

# ---------------------------------------------------------------------------------------------------------- tools


def _pair(result, function, meaning):
    """The two things a function returns. Raises TypeError with a sentence where it returns something else."""
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return result
    raise TypeError(f"{function} returned {_kind(result)}, not the pair {meaning}")


def _tensor(result, function):
    """The tensor a function returns. Raises TypeError with a sentence where it returns something else."""
    if isinstance(result, torch.Tensor):
        return result
    raise TypeError(f"{function} returned {_kind(result)}, not a tensor")


def _kind(thing):
    if thing is None:
        return "None"
    if isinstance(thing, torch.Tensor):
        return f"a tensor {tuple(thing.shape)}"  # the shape tells which of two results it is
    name = type(thing).__name__
    name = f"{'an' if name[0].lower() in 'aeiou' or name == 'ndarray' else 'a'} {name}"
    return f"{name} of {len(thing)}" if isinstance(thing, (tuple, list, nn.ModuleList)) else name


def _dtype(tensor):
    return str(getattr(tensor, "dtype", type(tensor).__name__)).removeprefix("torch.")


def _scattered(tensor):
    """The same numbers, but not in the order of memory: what a transpose upstream leaves behind."""
    return tensor.transpose(0, -1).contiguous().transpose(0, -1)


def _afterwards(**tensors):
    """What became of tensors that a call was given. Whether it changed them is not for this process to say."""
    return {f"{name} afterwards": tensor.detach().clone() for name, tensor in tensors.items() if tensor is not None}


def _leaves(**tensors):
    """Copies that gather gradients, by name."""
    return {name: tensor.clone().requires_grad_() for name, tensor in tensors.items()}


def _gradients(output, direction, leaves):
    """How output, weighed by direction, depends on each leaf. `unreached`: leaves that no gradient reaches."""
    if output.requires_grad:
        (output * direction).sum().backward()
    seen = {name: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for name, leaf in leaves.items()}
    seen["unreached"] = ", ".join(name for name, leaf in leaves.items() if leaf.grad is None)
    return seen


class _Crossing(RuntimeError):
    """An operation met tensors of two devices."""


# These may move or pick numbers across devices on CUDA too, so they are let pass.
_MAY_CROSS = {
    "aten::_to_copy",
    "aten::copy_",
    "aten::index",
    "aten::index_put",
    "aten::index_put_",
    "aten::_index_put_impl_",
}


class _OneDevice(TorchDispatchMode):
    """Refuses operations across devices, as CUDA does, though only the meta device is at hand.

    A 0-dim CPU tensor and a CPU index are let through, as on CUDA. `crossing`: the operation that was refused.
    """

    def __init__(self):
        super().__init__()
        self.crossing = ""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func._schema.name
        if name not in _MAY_CROSS:
            devices = {tensor.device.type for tensor in _tensors_in([*args, *kwargs.values()]) if tensor.dim() > 0}
            if len(devices) > 1:
                self.crossing = self.crossing or name.removeprefix("aten::")
                raise _Crossing(f"{self.crossing}: expected all tensors to be on the same device")
        elif name == "aten::copy_" and args[1].device.type == "meta" != args[0].device.type:
            return args[0]  # CUDA would copy; the meta device has no numbers to hand out, and where they go is enough
        return func(*args, **kwargs)


def _tensors_in(arguments):
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from _tensors_in(argument)


def _on_meta(run):
    """Where results lie when inputs lie on the meta device, and the first operation that mixed devices.

    run: a function without arguments that returns tensors by name. An answer that reads numbers raises there,
    which proves nothing: then `stopped` is True.
    """
    seen = {"crossing": "", "elsewhere": "", "stopped": False}
    guard = _OneDevice()
    try:
        with torch.no_grad(), guard:
            results = run()
        seen["elsewhere"] = ", ".join(name for name, tensor in results.items() if tensor.device.type != "meta")
    except Exception as problem:  # numbers were read, or an operation has no meta version
        if isinstance(problem, NotImplementedError) and not str(problem):
            raise  # the untouched stub
        seen["stopped"] = True
    seen["crossing"] = guard.crossing
    return seen


GPU = "cuda"


def _on_gpu(run, dtype):
    """How far apart CPU and GPU are: the largest difference, and the GPU's name ("" where there is none).

    run: a function from a device and a dtype to tensors by name. On the GPU it is asked for `dtype`, on the CPU for
    float32 beside float32, for float64 beside a shorter one. TF32 is off meanwhile. A difference is measured in units
    of the largest number of its tensor, where that is above 1.
    """
    if not torch.cuda.is_available():
        return {"gpu": "", "largest difference": 0.0}
    dtype = getattr(torch, dtype)
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        on_gpu = run(GPU, dtype)
        on_cpu = run("cpu", dtype if dtype == torch.float32 else torch.float64)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
    apart = [
        (on_gpu[name].detach().cpu().double() - expected.detach().double()).abs().max()
        / max(1.0, float(expected.detach().abs().max()))
        for name, expected in on_cpu.items()
    ]
    return {"gpu": torch.cuda.get_device_name(), "largest difference": float(torch.stack(apart).max())}


# -------------------------------------------------------------------------------------------------------- predict


def predicted_shapes(names, batch, tokens, d_model, h):
    """Every shape the answer predicts, as a list, by key."""
    shapes = names["predict_shapes"](batch, tokens, d_model, h)
    if not isinstance(shapes, dict):
        raise TypeError(f"predict_shapes returned {_kind(shapes)}, not a dict")
    return {
        str(key): [int(size) if hasattr(size, "__index__") else str(size) for size in shape]
        if isinstance(shape, (tuple, list))
        else shape
        if shape is None or isinstance(shape, int)
        else str(shape)
        for key, shape in list(shapes.items())[:20]
    }


def predicted_parameters(names, sizes):
    """The predicted number of parameters for each pair (d_model, h)."""
    seen = {}
    for d_model, h in sizes:
        number = names["predict_parameters"](d_model, h)
        if not hasattr(number, "__float__"):
            raise TypeError(f"predict_parameters returned {_kind(number)}, not a number")
        number = float(number)
        seen[f"parameters for d_model = {d_model}, h = {h}"] = int(number) if number.is_integer() else number
    return seen


# ------------------------------------------------------------------------------------------------------ attention


def _attend(names, *arguments, **options):
    output, weights = _pair(names["attention"](*arguments, **options), "attention", "(output, weights)")
    return {"output": _tensor(output, "attention"), "weights": _tensor(weights, "attention")}


def attend(names, query, key, value, mask=None, scattered=False, by_position=False):
    """Output and weights. by_position: the mask is given as the fourth argument, without its name."""
    if scattered:
        query, key, value = _scattered(query), _scattered(key), _scattered(value)
    if by_position:
        return _attend(names, query, key, value, mask)
    return _attend(names, query, key, value, mask=mask) if mask is not None else _attend(names, query, key, value)


def attend_with_large_scores(names, query, key, value, mask):
    """Output, weights, and how many weights at forbidden keys are not exactly 0; the largest as a power of ten."""
    seen = _attend(names, query, key, value, mask=mask)
    leaked = seen["weights"].detach().double().masked_select((mask == 0).expand_as(seen["weights"]))
    leaked = leaked.abs()[leaked != 0]
    return {
        **seen,
        "leaks": leaked.numel(),
        "largest": float(leaked.max().log10().round()) if leaked.numel() and leaked.isfinite().all() else 0.0,
    }


def attend_twice(names, query, key, value, other_key, other_value, mask):
    """Output and weights, before and after the content at some tokens was replaced."""
    before = _attend(names, query, key, value, mask=mask)
    after = _attend(names, query, other_key, other_value, mask=mask)
    return {
        "output": before["output"],
        "weights": before["weights"],
        "output_after": after["output"],
        "weights_after": after["weights"],
    }


def attend_in_another_order(names, query, key, value, order):
    """Output and weights, as they are and with the keys and their values in another order."""
    usual = _attend(names, query, key, value)
    other = _attend(names, query, key.index_select(-2, order), value.index_select(-2, order))
    return {
        "output": usual["output"],
        "weights": usual["weights"],
        "output_reordered": other["output"],
        "weights_reordered": other["weights"],
    }


def attend_gradients(names, query, key, value, direction, mask=None, factors=None):
    """Gradients of the output at query, key and value. factors: what a "dropout" multiplies the weights by."""
    leaves = _leaves(query=query, key=key, value=value)
    options = {} if mask is None else {"mask": mask}
    if factors is not None:
        options["dropout"] = lambda weights: weights * factors
    # Clones are handed over: what writes into its arguments has a rule of its own, and autograd would refuse it here.
    output = _attend(names, *(leaf.clone() for leaf in leaves.values()), **options)["output"]
    return _gradients(output, direction, leaves)


def attend_side_effects(names, query, key, value, masks):
    """What became of the arguments after a call with each kind of mask."""
    for mask in masks:
        _attend(names, query, key, value, mask=mask)
    kinds = {f"mask {position}": mask for position, mask in enumerate(masks)}
    return _afterwards(query=query, key=key, value=value, **kinds)


def attend_with_dropout(names, query, key, value, factors, mask=None):
    """Output and weights where "dropout" multiplies the weights by given factors; what it was given, how often."""
    given = []

    def dropout(weights):
        given.append(weights)
        return weights * factors

    options = {"dropout": dropout} if mask is None else {"dropout": dropout, "mask": mask}
    seen = _attend(names, query, key, value, **options)
    return {**seen, "calls": len(given), "given": given[0] if given else torch.zeros(0)}


def attend_dtype(names, query, key, value, mask):
    """Dtypes of output and weights."""
    seen = _attend(names, query, key, value, mask=mask)
    return {"output": _dtype(seen["output"]), "weights": _dtype(seen["weights"])}


def attend_half(names, query, key, value, mask):
    """Output and weights in a short dtype, widened to float32 so that they can be compared."""
    seen = _attend(names, query, key, value, mask=mask)
    return {"output": seen["output"].float(), "weights": seen["weights"].float()}


def attend_on_meta(names, query, key, value, mask):
    """Whether a call stays on the device of its inputs."""
    query, key, value, mask = (tensor.to("meta") for tensor in (query, key, value, mask))
    return _on_meta(lambda: _attend(names, query, key, value, mask=mask))


def attend_on_gpu(names, query, key, value, mask, direction, dtype):
    """How far apart a call on the CPU and one on a GPU are: output, weights, gradients at query, key and value."""

    def run(device, dtype):
        leaves = _leaves(**{n: x.to(device, dtype) for n, x in (("query", query), ("key", key), ("value", value))})
        seen = _attend(names, *(leaf.clone() for leaf in leaves.values()), mask=mask.to(device))
        gradients = _gradients(seen["output"], direction.to(device, dtype), leaves)
        del gradients["unreached"]
        return {**seen, **{f"gradient at {name}": gradient for name, gradient in gradients.items()}}

    return _on_gpu(run, dtype)


# --------------------------------------------------------------------------------------------------------- clones


def _linear(weight, bias):
    """An nn.Linear with these numbers."""
    linear = nn.Linear(*reversed(weight.shape), device="meta").to_empty(device="cpu").to(weight.dtype)
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return linear


def _nest(weight, bias):
    """A module that holds modules: a linear, then a batch norm with buffers."""
    norm = nn.BatchNorm1d(weight.shape[0])
    with torch.no_grad():
        norm.running_mean.copy_(bias)
    return nn.Sequential(_linear(weight, bias), norm)


def _clones(names, module, N):
    copies = names["clones"](module, N)
    if not hasattr(copies, "__len__") or not hasattr(copies, "__getitem__"):
        raise TypeError(f"clones returned {_kind(copies)}, not an nn.ModuleList")
    return copies


def clone_list(names, weight, bias, N):
    """What kind of list comes back, how many linears are in it, and how many parameters a parent finds through it."""
    copies = _clones(names, _linear(weight, bias), N)
    parent = nn.Module()
    parent.copies = copies
    return {
        "kind": "ModuleList" if isinstance(copies, nn.ModuleList) else type(copies).__name__,
        "linears": sum(isinstance(copies[i], nn.Linear) for i in range(len(copies))),
        "parameters": len(list(parent.parameters())),
    }


def clone_numbers(names, weight, bias, x, N):
    """The copies' weights and biases, and what they make of x."""
    copies = _clones(names, _linear(weight, bias), N)
    return {
        "weights": torch.stack([copies[i].weight for i in range(N)]),
        "biases": torch.stack([copies[i].bias for i in range(N)]),
        "outputs": torch.stack([copies[i](x) for i in range(N)]),
    }


def clone_nested(names, weight, bias, x, N):
    """The same for a module that holds modules and buffers, in evaluation."""
    copies = _clones(names, _nest(weight, bias).eval(), N)
    return {
        "outputs": torch.stack([copies[i].eval()(x) for i in range(N)]),
        "buffers": torch.stack([copies[i].state_dict()["1.running_mean"] for i in range(N)]),
    }


def clone_training(names, weight, bias, x, N, nested, chosen):
    """All numbers of the module as it was, and of each module after one was trained for one step.

    chosen: a position, or "module". objects: how many different objects the copies and the module are.
    """
    module = _nest(weight, bias) if nested else _linear(weight, bias)
    copies = _clones(names, module, N)
    modules = {**{str(i): copies[i] for i in range(N)}, "module": module}
    before = _numbers(module)
    trained = modules[chosen]
    (trained(x) ** 3).sum().backward()  # squares of what a batch norm returns have the same sum whatever it was given
    with torch.no_grad():
        for parameter in trained.parameters():
            if parameter.grad is not None:
                parameter -= 0.1 * parameter.grad
    after = {f"{name} afterwards": _numbers(m) for name, m in modules.items()}
    return {"before": before, **after, "objects": len({id(m) for m in modules.values()})}


def _numbers(module):
    """All that a module holds, one after the other."""
    return torch.cat([tensor.detach().double().flatten() for tensor in module.state_dict().values()])


def clone_side_effects(names, weight, bias, N):
    """What a call changed in the module it was given."""
    module = _linear(weight, bias)
    module.train()
    _clones(names, module, N)
    return {
        **_afterwards(weight=module.weight, bias=module.bias),
        "requires_grad afterwards": all(p.requires_grad for p in module.parameters()),
        "training afterwards": module.training,
    }


def clone_condition(names, weight, bias, N):
    """Mode, frozen and tied parameters of the copies of a module that is in evaluation, partly frozen and partly tied.

    Tied: two linears without biases hold one weight. The copies' parts are named as the module's.
    """
    frozen, one, other = _linear(weight, bias), nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    frozen.weight.requires_grad_(False)
    other.weight = one.weight
    parts = nn.Sequential(frozen, nn.BatchNorm1d(2), one, other)
    modules = {"a module in evaluation": parts.eval(), "a module in training": nn.BatchNorm1d(2)}
    seen = {}
    for name, module in modules.items():
        copies = list(_clones(names, module, N))
        seen[f"parts of {name} in training"] = [[part for part, m in c.named_modules() if m.training] for c in copies]
        seen[f"parameters of {name} that are frozen"] = [
            [parameter for parameter, p in c.named_parameters() if not p.requires_grad] for c in copies
        ]
        seen[f"parameters of {name}"] = [[parameter for parameter, p in c.named_parameters()] for c in copies]
    return seen


def clone_dtype(names, weight, bias, N):
    """Dtypes of the copies' weights."""
    copies = _clones(names, _linear(weight, bias), N)
    return {"copies": ", ".join(dict.fromkeys(_dtype(copies[i].weight) for i in range(N)))}


def clone_on_meta(names, weight, bias, N):
    """Whether copies lie on the device of the module."""
    module = _linear(weight, bias).to("meta")
    return _on_meta(lambda: {str(i): copy.weight for i, copy in enumerate(_clones(names, module, N))})


# --------------------------------------------------------------------------------------- split_heads, merge_heads


def split(names, x, h, scattered=False):
    """x split into heads."""
    return {"heads": _tensor(names["split_heads"](_scattered(x) if scattered else x, h), "split_heads")}


def split_one_token(names, x, h, token, content):
    """The heads of x, and of x with other content at one token."""
    other = x.clone()
    other[:, token] = content
    heads, after = (_tensor(names["split_heads"](t, h), "split_heads") for t in (x, other))
    return {"heads": heads, "heads of the other x": after}


def split_gradients(names, x, h, direction):
    """Gradient of the heads at x."""
    leaves = _leaves(x=x)
    return _gradients(_tensor(names["split_heads"](leaves["x"].clone(), h), "split_heads"), direction, leaves)


def split_side_effects(names, x, h):
    """x after a call."""
    names["split_heads"](x, h)
    return _afterwards(x=x)


def split_dtype(names, x, h):
    """Dtype of the heads."""
    return {"heads": _dtype(names["split_heads"](x, h))}


def split_on_meta(names, x, h):
    """Whether a call stays on the device of x."""
    x = x.to("meta")
    return _on_meta(lambda: {"heads": names["split_heads"](x, h)})


def merge(names, x, order="as is"):
    """The heads of x side by side. order: how x lies in memory ("as is", "scattered", or "transposed" as after attention)."""
    if order == "scattered":
        x = _scattered(x)
    elif order == "transposed":
        x = x.transpose(1, 2).contiguous().transpose(1, 2)
    return {"merged": _tensor(names["merge_heads"](x), "merge_heads")}


def merge_one_head(names, x, head, content):
    """The merged x, and the same once one head holds other content."""
    other = x.clone()
    other[:, head] = content
    merged, after = (_tensor(names["merge_heads"](t), "merge_heads") for t in (x, other))
    return {"merged": merged, "merged from the other x": after}


def merge_gradients(names, x, direction):
    """Gradient of the merged heads at x."""
    leaves = _leaves(x=x)
    return _gradients(_tensor(names["merge_heads"](leaves["x"].clone()), "merge_heads"), direction, leaves)


def merge_side_effects(names, x):
    """x after a call."""
    names["merge_heads"](x)
    return _afterwards(x=x)


def merge_dtype(names, x):
    """Dtype of the merged heads."""
    return {"merged": _dtype(names["merge_heads"](x))}


def merge_on_meta(names, x):
    """Whether a call stays on the device of x."""
    x = x.to("meta")
    return _on_meta(lambda: {"merged": names["merge_heads"](x)})


# ---------------------------------------------------------------------------------------------------------- masks


def pad(names, tokens, pad):
    """The padding mask."""
    return {"mask": _tensor(names["padding_mask"](tokens, pad), "padding_mask")}


def pad_sizes(names, tokens, pad):
    """The sizes of the padding mask."""
    return {"sizes": list(_tensor(names["padding_mask"](tokens, pad), "padding_mask").shape)}


def pad_kind(names, tokens, pad):
    """Dtype of the padding mask, and tokens after the call."""
    mask = names["padding_mask"](tokens, pad)
    return {"mask": _dtype(mask), **_afterwards(tokens=tokens)}


def pad_on_meta(names, tokens, pad):
    """Whether the padding mask lies on the device of tokens."""
    tokens = tokens.to("meta")
    return _on_meta(lambda: {"mask": _tensor(names["padding_mask"](tokens, pad), "padding_mask")})


def causal(names, size):
    """The causal mask."""
    return {"mask": _tensor(names["causal_mask"](size), "causal_mask")}


def causal_large(names, size):
    """A large causal mask in a few numbers: its sizes, and how many keys some queries and all together may look at."""
    mask = _tensor(names["causal_mask"](size), "causal_mask")
    seen = {"sizes": list(mask.shape), "keys of all queries": int((mask != 0).sum())}
    for row in (0, size // 2, -1):
        name = f"keys of query {row if row >= 0 else size + row}"
        seen[name] = int((mask[..., row, :] != 0).sum()) if mask.dim() and mask.size(-2) == size else -1
    return seen


def causal_kind(names, size):
    """Dtype of the causal mask."""
    return {"mask": _dtype(names["causal_mask"](size))}


def causal_on_meta(names, size):
    """Device of the causal mask, asked for on the meta device."""
    return {"device": _tensor(names["causal_mask"](size, device="meta"), "causal_mask").device.type}


def share(names, mask):
    """The mask with an axis for the heads."""
    return {"mask": _tensor(names["share_across_heads"](mask), "share_across_heads")}


def share_kind(names, mask):
    """Dtype of the mask with an axis for the heads."""
    return {"mask": _dtype(names["share_across_heads"](mask))}


def share_on_meta(names, mask):
    """Whether the mask with an axis for the heads lies on the device of the mask."""
    mask = mask.to("meta")
    return _on_meta(lambda: {"mask": _tensor(names["share_across_heads"](mask), "share_across_heads")})


def share_side_effects(names, mask):
    """The mask after a call."""
    names["share_across_heads"](mask)
    return _afterwards(mask=mask)


# ------------------------------------------------------------------------------------------------------ mix_heads


def _mix(names, heads, weight, bias):
    parts, output = _pair(names["mix_heads"](heads, weight, bias), "mix_heads", "(parts, output)")
    return {"parts": _tensor(parts, "mix_heads"), "output": _tensor(output, "mix_heads")}


def mix(names, heads, weight, bias, scattered=False):
    """Parts and output."""
    if scattered:
        heads, weight = _scattered(heads), _scattered(weight)
    return _mix(names, heads, weight, bias)


def mix_in_another_order(names, heads, weight, bias, other_heads, other_weight):
    """Parts and output, as they are and with the heads and their blocks of W_O in another order."""
    usual, other = _mix(names, heads, weight, bias), _mix(names, other_heads, other_weight, bias)
    return {**usual, "parts_reordered": other["parts"], "output_reordered": other["output"]}


def mix_gradients(names, heads, weight, bias, direction):
    """Gradients of the output at heads, weight and bias."""
    leaves = _leaves(heads=heads, weight=weight, bias=bias)
    output = _mix(names, *(leaf.clone() for leaf in leaves.values()))["output"]
    return _gradients(output, direction, leaves)


def mix_gradients_of_parts(names, heads, weight, bias, direction):
    """Gradients of the parts at heads and weight. The bias is in no part."""
    leaves = _leaves(heads=heads, weight=weight)
    return _gradients(_mix(names, *(leaf.clone() for leaf in leaves.values()), bias)["parts"], direction, leaves)


def mix_side_effects(names, heads, weight, bias):
    """The arguments after a call."""
    _mix(names, heads, weight, bias)
    return _afterwards(heads=heads, weight=weight, bias=bias)


def mix_dtype(names, heads, weight, bias):
    """Dtypes of parts and output."""
    seen = _mix(names, heads, weight, bias)
    return {"parts": _dtype(seen["parts"]), "output": _dtype(seen["output"])}


def mix_on_meta(names, heads, weight, bias):
    """Whether a call stays on the device of its inputs."""
    heads, weight, bias = (tensor.to("meta") for tensor in (heads, weight, bias))
    return _on_meta(lambda: _mix(names, heads, weight, bias))


# ------------------------------------------------------------------------------------------- MultiHeadedAttention


def _module(names, h, weights, biases, dropout=0.0):
    """The answer's module in evaluation, its four linears filled with weights (4, d_model, d_model) and biases (4, d_model)."""
    mha = names["MultiHeadedAttention"](h, weights.shape[-1], dropout=dropout)
    if weights.dtype != torch.float32:
        mha.to(weights.dtype)
    _fill(mha, weights, biases)
    mha.eval()
    return mha


def _fill(mha, weights, biases):
    with torch.no_grad():
        for i, (linear, weight, bias) in enumerate(zip(_linears(mha), weights, biases, strict=True)):
            if linear.bias is None:
                raise AttributeError(f"`linears[{i}]` has no bias")
            if linear.weight.shape != weight.shape:
                raise TypeError(f"`linears[{i}]` has a weight {tuple(linear.weight.shape)}, not {tuple(weight.shape)}")
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)


def _linears(mha):
    """W_Q, W_K, W_V and W_O of a module. Raises AttributeError or TypeError with a sentence where they are not there."""
    linears = getattr(mha, "linears", None)
    if linears is None:
        raise AttributeError("the module has no attribute `linears`")
    if not hasattr(linears, "__len__") or len(linears) != 4:
        raise TypeError(f"`linears` is {_kind(linears)}, not four linears")
    return linears


def _call(mha, *arguments, **options):
    output = mha(*arguments, **options)
    if isinstance(output, (tuple, list)):
        raise TypeError(f"the module returned {_kind(output)}, not the output alone")
    attn = getattr(mha, "attn", None)
    return {"output": _tensor(output, "the module"), "attn": attn if isinstance(attn, torch.Tensor) else _kind(attn)}


def _ask(mha, query, key, value, mask):
    return _call(mha, query, key, value, mask=mask) if mask is not None else _call(mha, query, key, value)


def module_call(names, h, weights, biases, query, key, value, mask=None):
    """Output and attn."""
    return _ask(_module(names, h, weights, biases), query, key, value, mask)


def module_first_query(names, h, weights, biases, query, key, value, mask):
    """The output of the first query alone."""
    output = _ask(_module(names, h, weights, biases), query, key, value, mask)["output"]
    return {"output of query 0": output[:, 0]}


def module_scattered(names, h, weights, biases, query, key, value):
    """Output and attn for inputs that are contiguous, and the output for the same ones scattered in memory."""
    mha = _module(names, h, weights, biases)
    usual = _call(mha, query, key, value)
    other = _call(mha, _scattered(query), _scattered(key), _scattered(value))
    return {**usual, "output_scattered": other["output"]}


def module_objects(names, h, weights, biases, x, memory, x_mask=None, memory_mask=None):
    """The outputs where key and value, or all three, are one object, as people call it; a mask is the fourth argument."""
    mha = _module(names, h, weights, biases)
    of_x, of_memory = ((mask,) if mask is not None else () for mask in (x_mask, memory_mask))
    return {
        "output for (x, x, x)": _call(mha, x, x, x, *of_x)["output"],
        "output for (x, memory, memory)": _call(mha, x, memory, memory, *of_memory)["output"],
    }


def module_masks(names, h, weights, biases, query, key, value, masks):
    """The output for each mask, by the mask's name."""
    mha = _module(names, h, weights, biases)
    return {name: _call(mha, query, key, value, mask=mask)["output"] for name, mask in masks.items()}


def module_parts(names, sizes):
    """What the module learns: the shapes of the four linears and the number of all parameters, per (h, d_model)."""
    seen = {}
    for h, d_model in sizes:
        mha = names["MultiHeadedAttention"](h, d_model)
        linears = _linears(mha)
        seen[f"h = {h}, d_model = {d_model}"] = {
            "weights": [list(linear.weight.shape) for linear in linears],
            "biases": [0 if linear.bias is None else len(linear.bias) for linear in linears],
            "parameters": sum(p.numel() for p in mha.parameters()),
        }
    return seen


def module_sizes(names, sizes):
    """What the module keeps as `h` and `d_k` for each (h, d_model), as text: a whole number, or what else it is."""
    seen = {}
    for h, d_model in sizes:
        mha = names["MultiHeadedAttention"](h, d_model)
        for name in ("h", "d_k"):
            seen[f"{name} of {d_model} / {h}"] = _whole(mha, name)
    return seen


def module_dropout(names, asked):
    """What the module keeps as `dropout`, as text: for each share that is asked for, and where none is."""
    seen = {}
    for dropout in (None, *asked):
        options = {} if dropout is None else {"dropout": dropout}
        kept = getattr(names["MultiHeadedAttention"](2, 8, **options), "dropout", "no attribute `dropout`")
        if isinstance(kept, nn.Dropout):
            kept = f"nn.Dropout({float(kept.p):.4g})"
        seen["default" if dropout is None else f"{dropout:.4g}"] = kept if isinstance(kept, str) else _kind(kept)
    if len(set(seen.values())) == 1 and seen["default"].startswith("nn.Dropout("):
        return dict.fromkeys(seen, "an nn.Dropout with the same share whatever is asked for")
    return seen


def _whole(thing, name):
    if not hasattr(thing, name):
        return f"no attribute `{name}`"
    value = getattr(thing, name)
    try:
        return str(int(value)) if int(value) == value else _kind(value)
    except Exception:  # a learner's object
        return _kind(value)


def module_refusal(names, sizes):
    """What comes of making the module with each size (h, d_model): "made", "refused", or the name of another error."""
    seen = {}
    for h, d_model in sizes:
        try:
            names["MultiHeadedAttention"](h, d_model)
            seen[f"{d_model} / {h}"] = "made"
        except (AssertionError, ValueError):
            seen[f"{d_model} / {h}"] = "refused"
        except NotImplementedError:  # the untouched stub
            raise
        except Exception as problem:
            seen[f"{d_model} / {h}"] = type(problem).__name__
    return seen


def module_twice(names, h, weights, biases, query, key, value, other_key, other_value, mask):
    """Output and attn, before and after the content at some tokens was replaced."""
    mha = _module(names, h, weights, biases)
    before = _call(mha, query, key, value, mask=mask)
    after = _call(mha, query, other_key, other_value, mask=mask)
    return {**before, "output_after": after["output"]}


def module_heads_in_another_order(names, h, weights, biases, other_weights, other_biases, query, key, value):
    """Output and attn, and the output once the heads' blocks of all four linears stand in another order."""
    mha = _module(names, h, weights, biases)
    usual = _call(mha, query, key, value)
    _fill(mha, other_weights, other_biases)
    other = _call(mha, query, key, value)
    return {**usual, "output_reordered": other["output"]}


def module_attn(names, h, weights, biases, query, key, value, short_query):
    """attn after a call, and after a second one with other queries; the output of the first call made again."""
    mha = _module(names, h, weights, biases)
    first = _call(mha, query, key, value)
    second = _call(mha, short_query, key, value)
    again = _call(mha, query, key, value)
    return {
        "attn": first["attn"],
        "attn of a second call": second["attn"],
        "output of the same call again": again["output"],
    }


def module_gradients(names, h, weights, biases, query, key, value, direction, mask=None):
    """Gradients of the output at the inputs and at W and b of the four linears; of b_K only whether one arrives."""
    mha = _module(names, h, weights, biases)
    leaves = _leaves(query=query, key=key, value=value)
    output = _ask(mha, *(leaf.clone() for leaf in leaves.values()), mask)["output"]
    for letter, linear in zip("QKVO", _linears(mha), strict=True):
        leaves[f"W_{letter}"] = linear.weight
        leaves[f"b_{letter}"] = linear.bias
    seen = _gradients(output, direction, leaves)
    del seen["b_K"]  # a softmax ignores it: what arrives is rounding noise
    return seen


def module_gradients_in_training(names, h, weights, biases, query, key, value, direction, dropout):
    """Which of the inputs and parameters a gradient reaches in training, where dropout draws."""
    mha = _module(names, h, weights, biases, dropout=dropout)
    mha.train()
    leaves = _leaves(query=query, key=key, value=value)
    output = _call(mha, *(leaf.clone() for leaf in leaves.values()))["output"]
    leaves.update(_named(mha))
    return {"unreached": _gradients(output, direction, leaves)["unreached"]}


def module_side_effects(names, h, weights, biases, query, key, value, masks):
    """The arguments and the parameters after a call with each kind of mask."""
    mha = _module(names, h, weights, biases)
    for mask in masks:
        _call(mha, query, key, value, mask=mask)
    kinds = {f"mask {position}": mask for position, mask in enumerate(masks)}
    return _afterwards(query=query, key=key, value=value, **kinds, **dict(_named(mha)))


def _named(mha):
    for letter, linear in zip("QKVO", _linears(mha), strict=True):
        yield f"W_{letter}", linear.weight
        yield f"b_{letter}", linear.bias


def module_evaluation(names, h, weights, biases, x, dropout):
    """Output and attn of two calls in evaluation, of a module that was made with dropout."""
    mha = _module(names, h, weights, biases, dropout=dropout)
    one, two = _call(mha, x, x, x), _call(mha, x, x, x)
    return {**one, "output_again": two["output"]}


def module_without_dropout(names, h, weights, biases, x):
    """Whether a module that was made with dropout 0 differs between training and evaluation, whatever it draws."""
    mha = _module(names, h, weights, biases, dropout=0.0)
    still = _call(mha, x, x, x)["output"]
    mha.train()
    training = _call(mha, x, x, x)["output"]
    return {"training differs": still.shape != training.shape or not torch.allclose(still, training, atol=1e-4)}


def module_training(names, h, weights, biases, x, dropout, mask=None):
    """Output and attn of a call in training, with dropout, attn of the next one, and of one in evaluation after them."""
    mha = _module(names, h, weights, biases, dropout=dropout)
    mha.train()
    training, again = _ask(mha, x, x, x, mask), _ask(mha, x, x, x, mask)
    mha.eval()
    return {
        **training,
        "attn_of_the_next_call": again["attn"],
        "attn_in_evaluation": _ask(mha, x, x, x, mask)["attn"],
    }


def module_dtype(names, h, weights, biases, query, key, value, mask):
    """Dtype of the output in float32, and after the module was turned into float64."""
    mha = _module(names, h, weights, biases)
    single = _call(mha, query, key, value, mask=mask)["output"]
    mha.double()
    double = _call(mha, query.double(), key.double(), value.double(), mask=mask)["output"]
    return {"float32": _dtype(single), "float64": _dtype(double)}


def module_on_meta(names, h, weights, biases, query, key, value, mask):
    """Whether a call stays on the device of module and inputs."""
    mha = _module(names, h, weights, biases).to("meta")
    query, key, value, mask = (tensor.to("meta") for tensor in (query, key, value, mask))
    return _on_meta(lambda: {"output": _call(mha, query, key, value, mask=mask)["output"]})


def module_on_gpu(names, h, weights, biases, query, key, value, mask, direction, dtype):
    """How far apart the module on the CPU and on a GPU is: output, and gradients at the inputs and at each W."""

    def run(device, dtype):
        mha = _module(names, h, weights, biases).to(device, dtype)
        leaves = _leaves(**{n: x.to(device, dtype) for n, x in (("query", query), ("key", key), ("value", value))})
        output = _call(mha, *(leaf.clone() for leaf in leaves.values()), mask=mask.to(device))["output"]
        leaves.update({f"W_{letter}": linear.weight for letter, linear in zip("QKVO", _linears(mha), strict=True)})
        gradients = _gradients(output, direction.to(device, dtype), leaves)
        del gradients["unreached"]
        return {"output": output, **{f"gradient at {name}": gradient for name, gradient in gradients.items()}}

    return _on_gpu(run, dtype)


# ------------------------------------------------------------------------------- load_torch_weights, silence_head


def _torch_module(h, weights, biases):
    """An nn.MultiheadAttention in evaluation with these weights."""
    torch_mha = nn.MultiheadAttention(weights.shape[-1], h, batch_first=True, dtype=weights.dtype)
    with torch.no_grad():
        torch_mha.in_proj_weight.copy_(weights[:3].flatten(0, 1))
        torch_mha.in_proj_bias.copy_(biases[:3].flatten())
        torch_mha.out_proj.weight.copy_(weights[3])
        torch_mha.out_proj.bias.copy_(biases[3])
    return torch_mha.eval()


def _load(names, h, weights, biases):
    torch_mha = _torch_module(h, weights, biases)
    mha = names["MultiHeadedAttention"](h, weights.shape[-1], dropout=0.0).to(weights.dtype).eval()
    _begin_alike(mha)
    names["load_torch_weights"](mha, torch_mha)
    return mha, torch_mha


def _begin_alike(mha):
    """Numbers that are the same in every module, however it drew its own: what is not loaded can then be told."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in mha.parameters():
            drawn = torch.randn(parameter.shape, generator=generator) / 2
            parameter.copy_(drawn)


def load_and_call(names, h, weights, biases, query, key, value, mask=None):
    """Output and attn of the module that was loaded."""
    return _ask(_load(names, h, weights, biases)[0], query, key, value, mask)


def load_condition(names, h, weights, biases):
    """Whether mha trains and what share it drops, before the call and after it."""
    mha = names["MultiHeadedAttention"](h, weights.shape[-1], dropout=0.3).train()
    before = _condition(mha)
    names["load_torch_weights"](mha, _torch_module(h, weights, biases))
    return {"before": before, "after": _condition(mha)}


def load_numbers(names, h, weights, biases):
    """Weight and bias of the four linears after loading."""
    return {name: parameter.detach() for name, parameter in _named(_load(names, h, weights, biases)[0])}


def load_and_train(names, h, weights, biases, x):
    """The outputs of both modules before and after torch_mha is changed, and before and after mha is."""
    mha, torch_mha = _load(names, h, weights, biases)

    def outputs():
        with torch.no_grad():
            return {"mha": mha(x, x, x), "torch_mha": torch_mha(x, x, x)[0]}

    seen = {}
    for changed in (torch_mha, mha):
        before = outputs()
        with torch.no_grad():
            for parameter in changed.parameters():
                parameter.add_(0.5)
        after = outputs()
        name = "mha" if changed is mha else "torch_mha"
        for one in before:
            seen[f"{one} before {name} changed"], seen[f"{one} after {name} changed"] = before[one], after[one]
    return seen


def load_side_effects(names, h, weights, biases):
    """The tensors of torch_mha after the call."""
    torch_mha = _torch_module(h, weights, biases)
    mha = names["MultiHeadedAttention"](h, weights.shape[-1], dropout=0.0).eval()
    names["load_torch_weights"](mha, torch_mha)
    return {
        **_afterwards(**{name.replace(".", "_"): p for name, p in torch_mha.named_parameters()}),
        "mode afterwards": torch_mha.training,
        "requires_grad afterwards": all(p.requires_grad for p in torch_mha.parameters()),
    }


def load_gradients(names, h, weights, biases, x, direction):
    """Which parameters of the loaded module a gradient reaches."""
    mha, _ = _load(names, h, weights, biases)
    output = mha(x, x, x)
    if output.requires_grad:
        (output * direction).sum().backward()
    parameters = {f"{kind}_{letter}": getattr(linear, name)
                  for letter, linear in zip("QKVO", _linears(mha), strict=True)
                  for kind, name in (("W", "weight"), ("b", "bias"))}  # fmt: skip
    return {"unreached": ", ".join(name for name, p in parameters.items() if p.grad is None)}


def load_dtype(names, h, weights, biases, x):
    """Dtype and output of the loaded module."""
    mha, _ = _load(names, h, weights, biases)
    output = mha(x, x, x)
    return {"output of a float64 module": _dtype(output), "output": output}


def silence(names, h, weights, biases, x, heads, mask=None):
    """Output and attn after one head after another was silenced."""
    mha = _module(names, h, weights, biases)
    for head in heads:
        names["silence_head"](mha, head)
    return _ask(mha, x, x, x, mask)


def silence_dtype(names, h, weights, biases, x, head):
    """Dtype and output of a module in which a head was silenced."""
    output = silence(names, h, weights, biases, x, [head])["output"]
    return {"output of a float64 module": _dtype(output), "output": output}


def silence_side_effects(names, h, weights, biases, head):
    """What a call leaves of the parts that no way of silencing a head needs, and of how the module learns."""
    mha = _module(names, h, weights, biases, dropout=0.3)
    mha.train()
    before = _condition(mha)
    names["silence_head"](mha, head)
    others = {name: parameter for name, parameter in _named(mha) if name not in ("W_V", "b_V", "W_O")}
    learning = ", ".join(name for name, parameter in _named(mha) if parameter.requires_grad)
    return {**_afterwards(**others), "learning": learning, "before": before, "after": _condition(mha)}


def _condition(mha):
    """Whether the module trains, and what share it drops, as text."""
    share = getattr(getattr(mha, "dropout", None), "p", None)
    return f"{'training' if mha.training else 'evaluation'}, dropout {share}"


def silence_output(names, h, weights, biases, x, heads):
    """The output alone, for each head silenced in a module of its own."""
    outputs = {}
    for head in heads:
        mha = _module(names, h, weights, biases)
        names["silence_head"](mha, head)
        outputs[f"output without head {head}"] = _call(mha, x, x, x)["output"]
    return outputs


def silence_attn(names, h, weights, biases, x, head):
    """attn after a head was silenced."""
    mha = _module(names, h, weights, biases)
    names["silence_head"](mha, head)
    return {"attn": _call(mha, x, x, x)["attn"]}


def silence_for_good(names, h, weights, biases, x, other, head):
    """Outputs for x and for another input, in evaluation, after a trip through training."""
    mha = _module(names, h, weights, biases)
    names["silence_head"](mha, head)
    mha.train()
    first = _call(mha, x, x, x)["output"]
    mha.eval()
    return {
        "output in training": first,
        "output for another input": _call(mha, other, other, other)["output"],
        "output of a second call": _call(mha, x, x, x)["output"],
    }

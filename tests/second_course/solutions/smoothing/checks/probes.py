"""Probes of the second course: each runs beside an answer and says what it did."""

import torch


def average(names, x, window):
    """One call of moving_average, and whether it changed its input."""
    before = x.clone()
    return {"average": names["moving_average"](x, window), "kept": torch.equal(before, x)}


def average_gradient(names, x, window):
    """The gradient that reaches the input."""
    x.requires_grad_(True)
    average = names["moving_average"](x, window)
    (average * torch.arange(average.numel()).view_as(average)).sum().backward()
    return {"gradient": x.grad}


def standardize(names, x, window, gain):
    """One call of the module, with its gain set."""
    module = names["Standardize"](window)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(gain)
    return {"standardized": module(x), "parameters": sum(p.numel() for p in module.parameters())}

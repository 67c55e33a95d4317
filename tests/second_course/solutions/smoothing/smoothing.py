# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "welcome", "locked": true, "schema_version": 3, "solution": false, "task": false}
# # Smoothing a signal
#
# Exercises: {{exercises}}. Points: {{points}}. Seconds for a cell: {{seconds}}.

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import torch
from torch import nn

from autograder import check

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-moving_average", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1. The moving average
#
# `moving_average(x, window)` maps (B, T) to (B, T - window + 1): each number is the mean of `window` neighbours.
#
# Chapter {{chapter:averages}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "moving_average", "locked": false, "schema_version": 3, "solution": true, "task": false}
def moving_average(x, window):
    """x: (B, T) → (B, T - window + 1), the mean over each run of `window` neighbours."""
    ### BEGIN SOLUTION
    runs = x.unfold(-1, window, 1)  # (B, T - window + 1, window)
    return runs.mean(-1)
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-moving_average", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("moving_average")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-Standardize", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2. Smooth, then standardize
#
# `Standardize(window)` smooths each row with `moving_average`, then moves it to mean 0 and spread 1 (the population's
# standard deviation), and multiplies by its one learned number, `gain`, which starts at 1.

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "Standardize", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Standardize(nn.Module):
    """x: (B, T) → (B, T - window + 1), smoothed, with mean 0 and spread `gain` along the last axis."""

    def __init__(self, window):
        super().__init__()
        ### BEGIN SOLUTION
        self.window = window
        self.gain = nn.Parameter(torch.ones(()))
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        smooth = moving_average(x, self.window)
        centred = smooth - smooth.mean(-1, keepdim=True)
        return self.gain * centred / centred.pow(2).mean(-1, keepdim=True).sqrt()
        ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-Standardize", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("Standardize")

"""The rules of Standardize."""

from autograder.checking import stage


@stage("shape", points=1)
def test_it_is_as_long_as_the_average(answer, draw):
    """T numbers give T - window + 1."""
    seen = answer.observe("standardize", x=draw.normal(2, 7), window=3, gain=1.0)
    seen.same_shape("standardized", axes="B T")


@stage("values", points=2, hint="Subtract the mean first; the spread is that of the population.")
def test_mean_zero_and_spread_one(answer, draw):
    """Along the last axis the mean is 0 and the spread 1."""
    answer.observe("standardize", x=draw.normal(3, 9), window=3, gain=1.0).same("standardized", axes="B T")


@stage("values", points=1, hint="Make `gain` an nn.Parameter.")
def test_the_gain_is_learned(answer, draw):
    """The result is multiplied by the one learned number."""
    seen = answer.observe("standardize", x=draw.normal(2, 9), window=2, gain=1.5)
    seen.same_plain("parameters")
    seen.same("standardized", axes="B T")

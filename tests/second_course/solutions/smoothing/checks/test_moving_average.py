"""The rules of moving_average."""

from autograder.checking import stage


@stage("shape", points=1, hint="A run of `window` neighbours fits T - window + 1 times.")
def test_one_number_per_run(answer, draw):
    """T numbers give T - window + 1 averages."""
    seen = answer.observe("average", x=draw.normal(2, 7), window=3)
    seen.same_shape("average", axes="B T")


@stage("values", points=3, hint="Add the neighbours up, then divide by how many they are.")
def test_each_number_is_the_mean_of_its_run(answer, draw):
    """Each number is the mean of `window` neighbours."""
    for window in (2, 3, 5):
        seen = answer.observe("average", x=draw.normal(3, 8), window=window)
        seen.same("average", axes="B T")


@stage("gradients", points=1, hint="Do not leave torch on the way: no `.detach()`, `.item()` or NumPy.")
def test_gradients_reach_the_input(answer, draw):
    """The gradient of every average reaches its neighbours."""
    answer.observe("average_gradient", x=draw.normal(2, 6), window=3).same("gradient", axes="B T")


@stage("side effects", points=1, hint="Work on a new tensor.")
def test_the_input_stays_as_it_was(answer, draw):
    """The input is not changed."""
    seen = answer.observe("average", x=draw.normal(2, 6), window=2)
    seen.law(seen.flag("kept"), expected="x as it was before the call", got="x changed in place")

"""The autograder package that Gradescope runs: `packaging.py` makes the zip here, `running.py` grades there."""

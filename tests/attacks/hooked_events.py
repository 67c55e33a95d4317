"""Hooks of IPython that raise, exit and loop before and after each cell."""
# base: solved
# where: first
# lost: own

import os

shell = get_ipython()
shell.events.register("pre_run_cell", lambda info: 1 / 0)
shell.events.register("post_run_cell", lambda result: os._exit(0))
shell.showtraceback = lambda *args, **kwargs: os._exit(0)
shell.run_cell = None

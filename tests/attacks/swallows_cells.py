"""A hook of IPython that replaces every later cell by nothing."""
# base: solved
# where: first
# lost: own

get_ipython().input_transformers_cleanup.append(lambda lines: ["pass\n"])

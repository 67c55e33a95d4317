"""More cells than anybody writes, each ending the process."""
# base: solved
# where: notebook
# lost: nothing


def edit(notebook):
    notebook["cells"] += [{"cell_type": "code", "source": "import os; os._exit(1)", "metadata": {}} for _ in range(40)]
    return notebook

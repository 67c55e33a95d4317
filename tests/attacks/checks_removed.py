"""All check cells are deleted. The checks come from the course."""
# base: solved
# where: notebook
# lost: nothing


def edit(notebook):
    notebook["cells"] = [c for c in notebook["cells"] if not c["metadata"].get("nbgrader", {}).get("grade")]
    return notebook

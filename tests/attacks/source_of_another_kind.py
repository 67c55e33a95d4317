"""Sources that are numbers, dicts, endless lists and code in other cells."""
# base: solved
# where: notebook
# lost: nothing


def edit(notebook):
    notebook["cells"] += [
        {"cell_type": "code", "source": thing, "metadata": {}} for thing in (1, None, {}, [[]], ["a", 1], True)
    ]
    notebook["cells"] += [None, 1, [], {"cell_type": ["code"]}, {"cell_type": "code", "metadata": [1], "source": "1"}]
    notebook["metadata"] = [notebook["metadata"]]
    notebook["nbformat"] = "4"
    return notebook

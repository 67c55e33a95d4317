"""Two cells exchange their names, so that one answer is graded for two."""
# base: solved
# where: notebook
# lost: nothing


def edit(notebook):
    swapped = {"split_heads": "merge_heads", "merge_heads": "split_heads"}
    for cell in notebook["cells"]:
        entry = cell["metadata"].get("nbgrader", {})
        entry["grade_id"] = swapped.get(entry.get("grade_id"), entry.get("grade_id"))
    return notebook

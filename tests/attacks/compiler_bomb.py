"""Source that takes the parser to its limits."""
# base: solved
# where: notebook
# lost: nothing


def edit(notebook):
    for text in (
        "(" * 5000 + ")" * 5000,
        "-" * 100_000 + "1",
        "x = " + "[" * 900 + "]" * 900,
        "1" + "+1" * 50_000,
        "a" * 900_000,
    ):
        notebook["cells"].insert(0, {"cell_type": "code", "source": text, "metadata": {}, "outputs": []})
    return notebook

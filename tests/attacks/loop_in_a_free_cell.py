"""A cell of no exercise never ends."""
# base: solved
# where: first
# lost: nothing

while True:
    pass

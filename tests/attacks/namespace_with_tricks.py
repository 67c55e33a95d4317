"""The namespace holds keys and values that strike whoever looks at them."""
# base: solved
# where: last
# lost: nothing


class Name(str):
    def startswith(self, *args):
        raise SystemExit

    def __hash__(self):
        return 1


class Strikes:
    def __call__(self):
        raise SystemExit

    def __getattribute__(self, name):
        raise SystemExit


globals()[Name("evil")] = Strikes()
strikes = Strikes()

"""Two hundred thousand lines, one line of fifty megabytes, and outputs closed."""
# base: solved
# where: first
# lost: nothing

import os
import sys

for number in range(200_000):
    print(number)
print("x" * 50_000_000)
print("careful", file=sys.stderr)
sys.stdout.close()
os.close(1)
os.close(2)

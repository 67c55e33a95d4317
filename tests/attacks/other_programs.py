"""Starts other programs."""
# base: solved
# where: first
# lost: nothing

import os
import subprocess

get_ipython().system("touch /tmp/ran; curl http://127.0.0.1")
for command in (["/bin/sh", "-c", "id"], ["python3", "-c", "print(1)"]):
    try:
        subprocess.run(command, check=False)
    except OSError:
        pass
try:
    os.execv("/bin/sh", ["sh"])
except OSError:
    pass

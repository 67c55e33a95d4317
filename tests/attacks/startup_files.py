"""Plants files that Python, IPython and the shell run when they start."""
# base: solved
# where: first
# lost: nothing

import os
import site
import sys

text = "import sys\nsys.planted = True\n"
for place in (
    "~/.ipython/profile_default/startup/00.py",
    "~/.python_history",
    "~/.bashrc",
    "~/.pythonrc",
    site.getusersitepackages() + "/usercustomize.py",
    sys.prefix + "/lib/sitecustomize.py",
    "sitecustomize.py",
    "conftest.py",
    "torch.py",
    "pytest.ini",
    "/tmp/torch.py",
    "/dev/shm/torch.py",
):
    path = os.path.expanduser(place)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        open(path, "w").write(text)
    except OSError:
        pass

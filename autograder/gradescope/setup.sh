#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: the engine and what it needs, in an environment of its
# own beside the course.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"  # /autograder/source
environment="$(dirname "$PWD")/venv"

apt-get update
apt-get install -y --no-install-recommends python3 python3-venv libseccomp2 bubblewrap
python3 -c 'import sys; sys.version_info >= (3, 10) or sys.exit("Python 3.10 or newer is needed: choose a newer base image.")'
python3 -m venv "$environment"
"$environment/bin/python" -m pip install --no-cache-dir -r requirements.txt

# A submission may read the engine and PyTorch, never the course.
chmod -R go-rwx .

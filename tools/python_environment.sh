#!/usr/bin/env bash
# Makes a virtual environment with what the Python package is built and tested with. Does nothing,
# and needs no network, where it is there already.
# usage: tools/python_environment.sh FOLDER
set -euo pipefail
wanted="$(cd "$(dirname "$0")/.." && pwd)/python_bindings/requirements.txt"
if cmp -s "$wanted" "$1/requirements.txt"; then exit 0; fi
python3 -m venv "$1"
"$1/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
cp "$wanted" "$1/requirements.txt"

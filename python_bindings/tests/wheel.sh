#!/usr/bin/env bash
# Packs a wheel as `pip install .` does, but from a build that is there, checks what is in it, installs it in a new virtual
# environment, and runs a program there. Without BUILD ("") everything is compiled.
# usage: wheel.sh PYTHON BUILD FOLDER: PYTHON has the packages of requirements.txt
set -euo pipefail
python=$1
build=$2
folder=$3
root=$(cd "$(dirname "$0")/../.." && pwd)

rm -rf "$folder"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$folder" \
    ${build:+-C build-dir="$folder/packed" -C cmake.define.TESSERA_BUILT="$build"} "$root"
wheel=$(ls "$folder"/*.whl)
"$python" - "$wheel" <<'CHECK'
import os, sys, zipfile
wheel = sys.argv[1]
names = zipfile.ZipFile(wheel).namelist()
size = os.path.getsize(wheel) / 1e6
print(f"{os.path.basename(wheel)}: {size:.1f} MB, {len(names)} files")
assert "-cp310-abi3-linux_" in wheel, "one wheel for all versions of Python from 3.10 on"
assert size < 60, f"{size} MB"
assert sum("libtessera.so" in name for name in names) == 1, "one library, without copies of other names"
for wanted in ("tessera/_tessera.abi3.so", "tessera/py.typed", "tessera/_tessera/__init__.pyi", "tessera/halide/imageio.py"):
    assert wanted in names, f"{wanted} is not there"
CHECK
"$python" -m venv "$folder/environment"
"$folder/environment/bin/pip" install --quiet --disable-pip-version-check "$wheel"
cd "$folder"
environment/bin/python -c '
import numpy as np, tessera as ts
x, y, f = *ts.vars("x y"), ts.Func("f")
f[x, y] = ts.u8(x + 2 * y)
f.vectorize(x, 16).parallel(y)
assert (f.realize([64, 8]).numpy() == np.add.outer(2 * np.arange(8), np.arange(64))).all()
print("the installed package computes")'

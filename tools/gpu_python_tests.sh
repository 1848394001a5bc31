#!/usr/bin/env bash
# Puts the Python package and its checks for a GPU into one folder, to be carried to a machine that has one:
#
#     tools/gpu_python_tests.sh BUILD [FOLDER [VERSION]]
#
# BUILD has the Python package (TESSERA_PYTHON). There, `bash FOLDER/run.sh` runs the checks: it needs the driver, Python of
# that VERSION (3.12), and PyTorch, JAX or CuPy for what is checked of each.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
folder=${2-build/gpu_python_tests}
version=${3-3.12}
package=$build/python_bindings/tessera

rm -rf "$folder"
mkdir -p "$folder/stage"
cp -rL "$package" "$folder/stage/tessera"
find "$folder/stage/tessera" -name __pycache__ -prune -exec rm -rf {} +
strip "$folder"/stage/tessera/{libtessera.so.0,tessera-measure,_tessera.abi3.so}
tar -cf - -C "$folder/stage" tessera | xz -6 -T0 >"$folder/tessera.tar.xz"
rm -rf "$folder/stage"
cp python_bindings/tests/gpu_*.py "$folder"
python3 -m pip download -q --no-deps --only-binary=:all: --python-version "$version" --platform manylinux_2_28_x86_64 \
    -d "$folder" nanobind-backend
cat >"$folder/run.sh" <<'RUN'
#!/usr/bin/env bash
# Runs the checks one after the other; ends with 1 if any of them has failed.
here=$(cd "$(dirname "$0")" && pwd)
packages=$(mktemp -d)
tar -xJf "$here/tessera.tar.xz" -C "$packages" || exit 1
python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --target "$packages" "$here"/*.whl || exit 1
export PYTHONPATH=$packages PYTHONUNBUFFERED=1
status=0
for each in gpu_torch gpu_jax gpu_arrays; do
    echo "== $each"
    timeout 170 python3 "$here/$each.py" 2>&1 || { echo "== $each failed"; status=1; }
done
rm -rf "$packages"
exit $status
RUN
du -sh "$folder"

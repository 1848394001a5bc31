#!/usr/bin/env bash
# Builds the wheel, installs it in a new virtual environment, and runs the tests of the package.
# usage: python_bindings/tests/run.sh [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${1:-python3}
folder=build/python_tests
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/pip" install --quiet scikit-build-core nanobind numpy pytest
"$folder/bin/pip" wheel --quiet --no-build-isolation --no-deps --wheel-dir "$folder/wheel" .
"$folder/bin/pip" install --quiet "$folder"/wheel/*.whl
cd "$folder"
exec bin/python -m pytest -q -p no:cacheprovider ../../python_bindings/tests

#!/usr/bin/env bash
# Install what is missing, build everything in Release, the Python package too, and run all tests.
# Arguments go to ctest: `tools/test.sh -L app` runs the apps only.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_dependencies.sh
tools/python_environment.sh build/python_environment
cmake --preset release -DTESSERA_PYTHON=ON -DPython_EXECUTABLE="$PWD/build/python_environment/bin/python"
cmake --build --preset release
exec ctest --preset release "$@"

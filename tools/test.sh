#!/usr/bin/env bash
# Install what is missing, build everything in Release, and run all tests.
# Arguments go to ctest: `tools/test.sh -L app` runs the apps only.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_dependencies.sh
cmake --preset release
cmake --build --preset release
exec ctest --preset release "$@"

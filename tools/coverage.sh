#!/usr/bin/env bash
# Build with counters, run the ordinary tests, and print the share of lines of src that ran.
# Arguments go to ctest: `tools/coverage.sh -L app` counts what the apps run.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset coverage
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete
ctest --preset coverage -LE check "$@" || echo "some tests failed: their lines count all the same"
python3 tools/coverage.py build/coverage src

#!/usr/bin/env bash
# Writes docs/directives.md from the examples in test/schedule/directives.cpp.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
cmake --build --preset release --target write_directives
build/release/test/write_directives test/schedule/directives.cpp docs/directives.md

#!/usr/bin/env bash
# Format the C++ of the project, or with --check fail where it is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
[ "${1:-}" != --check ] || mode=(--dry-run --Werror)
find src test apps bench tools python_bindings autoscheduler compat \
    \( -name '*.h' -o -name '*.cpp' \) -print0 2>/dev/null |
    xargs -0 --max-procs=2 --max-args=40 clang-format-14 --style=file "${mode[@]}"

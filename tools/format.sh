#!/usr/bin/env bash
# Format the C++ of the project, or with --check fail where it is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
[ "${1:-}" != --check ] || mode=(--dry-run --Werror)
find src include autoscheduler test apps bench tools python_bindings \( -name '*.h' -o -name '*.cpp' \) -print0 |
    xargs -0 --max-procs=2 --max-args=40 clang-format-22 --style=file "${mode[@]}"

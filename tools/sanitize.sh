#!/usr/bin/env bash
# Build and test under sanitizers: `tools/sanitize.sh [asan|ubsan|tsan]...`, all three by default.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(asan ubsan tsan)
for preset in "${presets[@]}"; do
    cmake --preset "$preset"
    cmake --build --preset "$preset"
    # The checks of the source text do not depend on how the compiler was built.
    ctest --preset "$preset" --label-exclude check
done

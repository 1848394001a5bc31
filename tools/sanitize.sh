#!/usr/bin/env bash
# Build and test under sanitizers: `tools/sanitize.sh [asan|ubsan|tsan]...`, all three by default.
set -euo pipefail
cd "$(dirname "$0")/.."

# The first report ends the program, so that the test fails.
export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(asan ubsan tsan)
for preset in "${presets[@]}"; do
    cmake --preset "$preset"
    cmake --build --preset "$preset"
    # The checks of the source text do not depend on how the compiler was built.
    ctest --preset "$preset" --label-exclude check
done

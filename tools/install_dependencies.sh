#!/usr/bin/env bash
# Install what Tessera needs on Debian 12. Does nothing, and needs no network, where all is there.
set -euo pipefail

# Build: a generator, a cache, a quick linker. Python runs the checks among the tests.
packages=(cmake g++ git ninja-build ccache lld python3 pkg-config)
# The compiler and its runtime, for AArch64 too; the libraries after LLVM are what LLVM itself links.
packages+=(llvm-22-dev libzstd-dev zlib1g-dev libxml2-dev libpng-dev libtiff-dev
           nlohmann-json3-dev libxgboost-dev g++-aarch64-linux-gnu libc6-dev-arm64-cross)
# Tests, command lines, formatting, checks of the sources, the report of sizes.
packages+=(doctest-dev libz3-dev qemu-user libcli11-dev clang-format-22 clang-tidy-22
           universal-ctags)
# The Python package and its tests; the rest of what it needs is installed by python_environment.sh.
packages+=(python3-dev python3-venv)

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "dependencies: all installed"
    exit 0
fi

echo "dependencies: installing ${missing[*]}"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
export DEBIAN_FRONTEND=noninteractive
# A machine may list other sources that do not answer: Debian's own are enough.
"${as_root[@]}" apt-get update -qq || echo "dependencies: some sources did not answer" >&2
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"

#!/usr/bin/env bash
# Puts the programs that need a GPU into one folder, to be carried to a machine that has one:
#
#     tools/gpu_tests.sh [--built BUILD] [FOLDER [PROGRAM...]]
#
# They are built first, unless BUILD is a folder where they are. There, `sh FOLDER/run.sh` runs them:
# it needs the driver, tar, and a C library that is not older than this machine's; no toolkit.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release
is_built=
if [ "${1-}" = --built ]; then
    build=$2 is_built=1
    shift 2
fi
folder=${1-build/gpu_tests}
[ $# -eq 0 ] || shift
programs=("$@")
[ $# -gt 0 ] || programs=(test/cuda_smoke test/compat/test_compat_gpu tools/tessera-fuzz bench/bench_gpu)
most_kilobytes=61440

if [ -z "$is_built" ]; then
    cmake --preset release >/dev/null
    cmake --build --preset release --target "${programs[@]##*/}"
fi

# Lists the libraries that it needs besides the C library, which belongs to the machine.
libraries_of() {
    ldd "$1" | awk '$3 ~ /^\// { print $3 }' |
        grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' || true
}

rm -rf "$folder"
mkdir -p "$folder/lib" "$folder/bin"
stripped=$(mktemp -d)
trap 'rm -rf "$stripped"' EXIT
cp "$(command -v zstd)" "$folder/bin/zstd"
for file in "$(command -v zstd)" "${programs[@]/#/$build/}"; do
    libraries_of "$file" | xargs -r cp -L -t "$folder/lib"
done
for program in "${programs[@]}"; do strip -o "$stripped/${program##*/}" "$build/$program"; done
# All at once: what is in several of them, such as the compiler, is there once.
tar -cf - -C "$stripped" . | zstd -q -15 --long=28 -T0 -o "$folder/programs.tar.zst"
install -m 755 tools/gpu_tests_run.sh "$folder/run.sh"

size=$(du -sk "$folder" | cut -f 1)
echo "$folder: $size kilobytes; run it by: sh run.sh"
if [ "$size" -gt "$most_kilobytes" ]; then
    echo "that is more than $most_kilobytes" >&2
    exit 1
fi

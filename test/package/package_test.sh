#!/usr/bin/env bash
# Installs Tessera into an empty folder, and builds the project of this folder against it: as it is,
# cross-compiled by toolchain files (for AArch64, too, which qemu runs), and a program with
# pkg-config. Argument: Tessera's build.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

expect() { # <what> <wanted> <got>
    [ "$2" = "$3" ] && return 0
    echo "$1: expected '$2', got '$3'" >&2
    exit 1
}
contains() { # <what> <text> <part>
    case $2 in *"$3"*) return 0 ;; esac
    echo "$1: no '$3' in '$2'" >&2
    exit 1
}

cmake --install "$build" --prefix "$work/tessera" >/dev/null
if readelf -d tessera/lib*/libtessera.so | grep NEEDED.*LLVM; then
    echo "libtessera.so needs LLVM" >&2
    exit 1
fi

cp -r "$here" project
sed -n '/^```c$/,/^```$/p' "$here/../../README.md" | sed '1d;$d' >project/from_readme.c
configure() { # <folder> <arguments>
    cmake -S project -B "$1" -G "${GENERATOR:-Ninja}" -DCMAKE_PREFIX_PATH="$work/tessera" "${@:2}"
}
configure native >/dev/null
cmake --build native >/dev/null
expect "the project" "15 238 20 255" "$(native/brighter)"
expect "the program in README.md" 150 "$(native/from_readme)"
test -s native/brighten.files/brighten.stmt
contains "the help" "$(native/brighten_generator --help)" "parameter vector_size=16"

# An autoscheduler that a plugin adds.
schedule=$(cat native/brighten_by_rows.files/brighten_by_rows.schedule.h)
contains "the plugin's schedule" "$schedule" "output.split(y, y, y_i, 4,"
refused=$(native/brighten_generator -g brighten -o . target=host -p native/libby_rows.so \
    autoscheduler=by_row 2>&1) && exit 1
contains "the refusal" "$refused" 'there is no autoscheduler "by_row"; did you mean by_rows?'

# Inputs and outputs are files, whether the library is loaded or linked in.
tool=tessera/bin/tessera-run
library=native/brighten.files/brighten.a
$tool $library input=random:1:[64,40] factor=1.5 output=bright.png --quiet
run() { native/run_brighten --name=brighten_many input=random:1:[64,40] "$@"; }
expect "the linked run" "check of output against bright.png: ok" \
    "$(run factor=1.5 --quiet --check=output=bright.png)"
contains "its description" "$(native/run_brighten --describe)" "brighten_many, for"
refused=$(run factr=1.5 2>&1) && exit 1
contains "the refusal" "$refused" "there is no argument factr; did you mean factor?"
refused=$(native/run_brighten input=zero factor=1 2>&1) && exit 1
contains "the refusal" "$refused" "there are several functions: brighten, brighten_many; say --name="
if readelf -d $tool | grep NEEDED.*LLVM; then
    echo "tessera-run needs LLVM" >&2
    exit 1
fi

# A project of Halide's, with Tessera in its place.
halide() { # <folder> <arguments>
    cmake -S project/halide -B "$1" -G "${GENERATOR:-Ninja}" \
        -DHalide_DIR="$work/tessera/share/tessera/halide" "${@:2}"
}
halide halide >/dev/null
cmake --build halide >/dev/null
expect "Halide's project" "0 0 0 120 160 200" "$(halide/threshold_app)"
test -s halide/threshold.files/threshold.h
contains "the plugin's schedule" "$(cat halide/unrolled.files/unrolled.schedule.h)" ", 2,"
if readelf -d halide/threshold_app | grep NEEDED.*tessera; then
    echo "Halide's project needs the compiler when it runs" >&2
    exit 1
fi

# The same processor, but CMake takes it for another machine.
cat >toolchain.cmake <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
END
configure crossed -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" >/dev/null
cmake --build crossed >/dev/null
test -x crossed/brighten_generator.host
expect "the cross-compiled project" "15 238 20 255" "$(crossed/brighter)"

# Another machine: the generator is for this one, the library and the program for that one.
machine_of() { readelf -h "$1" | sed -n 's/ *Machine: *//p'; }
configure aarch64 -DCMAKE_TOOLCHAIN_FILE="$here/aarch64.toolchain.cmake" >/dev/null
cmake --build aarch64 >/dev/null
expect "the generator's machine" "$(machine_of /bin/sh)" \
    "$(machine_of aarch64/brighten_generator.host)"
expect "the program's machine" AArch64 "$(machine_of aarch64/brighter)"
for cpu in cortex-a57 neoverse-n1; do
    expect "the project for AArch64 on $cpu" "15 238 20 255" \
        "$(qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu $cpu aarch64/brighter)"
done

# CMake breaks lines.
refused=$(configure other_machine -DCMAKE_TOOLCHAIN_FILE="$here/aarch64.toolchain.cmake" \
    -DTARGETS=x86-64-linux-avx2 2>&1 | tr -s ' \n' ' ') && exit 1
contains "the refusal" "$refused" \
    "the target x86-64-linux-avx2 is for another machine than the one that is built for, which is arm-64-linux"

halide halide_crossed -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" >/dev/null
cmake --build halide_crossed >/dev/null
expect "Halide's cross-compiled project" "0 0 0 120 160 200" "$(halide_crossed/threshold_app)"

refused=$(configure refused_run -DRUN_FROM=brightn 2>&1) && exit 1
contains "the refusal" "$refused" "FROM wants targets of"
refused=$(configure refused_run -DRUN_FROM= 2>&1) && exit 1
contains "the refusal" "$refused" "add_tessera_run(run_brighten): FROM is missing"
refused=$(configure crossed -DRUN_FROM=brighten 2>&1) && exit 1
contains "the refusal" "$refused" "the library of tessera-run is only there"

export PKG_CONFIG_PATH=$(dirname "$(find tessera -name tessera.pc)")
c++ project/while_it_runs.cpp -o while_it_runs $(pkg-config --cflags --libs tessera)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir tessera) ./while_it_runs >result
expect "the program with pkg-config" 81 "$(cat result)"
c++ project/brighten_generator.cpp "$(pkg-config --variable=generator_main tessera)" -o by_hand \
    $(pkg-config --cflags --libs tessera) -Wl,-rpath,"$(pkg-config --variable=libdir tessera)"
contains "a generator with pkg-config" "$(./by_hand --help)" "parameter vector_size=16"
echo "package: ok"

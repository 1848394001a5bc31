#!/usr/bin/env bash
# Install what is missing, build, and run two apps over a picture: PNG files in out/, times printed.
# usage: tools/quickstart.sh [PICTURE.png]     without a picture, Tessera paints one
set -euo pipefail
picture=${1:+$(realpath "$1")}
cd "$(dirname "$0")/.."

tools/install_dependencies.sh
cmake --preset release
cmake --build --preset release --target sample_picture local_laplacian camera_pipe

mkdir -p out
apps=build/release/apps
if [ -z "$picture" ]; then
    picture=out/sample.png
    $apps/sample_picture "$picture"
fi
$apps/local_laplacian "$picture" out/local_laplacian.png --repeat 10
$apps/camera_pipe "$picture" out/camera_pipe.png --repeat 10

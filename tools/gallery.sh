#!/usr/bin/env bash
# Runs every app over the sample picture, and writes what it makes to docs/gallery: gallery.sh [BUILD]
# With BUILD, a folder where the apps are built already, nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
apps=(blur unsharp harris bilateral_grid local_laplacian camera_pipe stencil_chain interpolate nl_means
      hist iir_blur max_filter resize blur_f32 conv_layer depthwise_separable_conv gemm widening_gemm
      softmax layer_norm attention)
if [ $# -eq 0 ]; then
    cmake --preset release >/dev/null
    cmake --build --preset release --target sample_picture "${apps[@]}"
fi

sample=$(mktemp --suffix=.png)
trap 'rm -f "$sample"' EXIT
"$build/apps/sample_picture" "$sample" >/dev/null
mkdir -p docs/gallery
for app in "${apps[@]}"; do
    # attention takes rows of 64 numbers.
    size=192x128
    [ "$app" != attention ] || size=64x128
    "$build/apps/$app" "$sample" "docs/gallery/$app.png" --size $size >/dev/null
done
du -sh docs/gallery

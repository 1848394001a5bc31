// Unsharp mask: sharpen the grey picture and apply the gain to all colours.
#pragma once

#include <tessera.h>

#include <cmath>

namespace tessera::apps {

struct Unsharp {
    Func gray{"gray"}, blur_y{"blur_y"}, blur_x{"blur_x"}, ratio{"ratio"}, output{"unsharp"};
    Var x{"x"}, y{"y"}, c{"c"};

    // `input` has three colours as floats.
    explicit Unsharp(const ImageParam &input) {
        Func in = BoundaryConditions::repeat_edge(input);
        gray(x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);

        // Half of a Gaussian with sigma 1.5, its middle first.
        float taps[4], sum = 0;
        for (int i = 0; i < 4; i++) {
            taps[i] = std::exp(-float(i * i) / (2 * 1.5f * 1.5f));
            sum += i == 0 ? taps[i] : 2 * taps[i];
        }
        for (float &tap : taps) tap /= sum;

        Expr along_y = taps[0] * gray(x, y);
        for (int i = 1; i < 4; i++) along_y += taps[i] * (gray(x, y - i) + gray(x, y + i));
        blur_y(x, y) = along_y;
        Expr along_x = taps[0] * blur_y(x, y);
        for (int i = 1; i < 4; i++) along_x += taps[i] * (blur_y(x - i, y) + blur_y(x + i, y));
        blur_x(x, y) = along_x;

        ratio(x, y) = (2 * gray(x, y) - blur_x(x, y)) / max(gray(x, y), 1e-4f);
        output(x, y, c) = ratio(x, y) * input(x, y, c);
        output.bound(c, 0, 3);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var strip("strip"), xi("xi"), yi("yi");
        output.split(x, x, xi, vector)
            .split(y, y, yi, 2, TailStrategy::GuardWithIf)
            .reorder(c, xi, x, yi, y)  // the three colours share one ratio
            .unroll(c)
            .vectorize(xi)
            .split(y, strip, y, 64, TailStrategy::GuardWithIf)
            .parallel(strip);  // strips of 128 rows: each computes six of gray that others do too
        gray.store_at(output, strip)  // eight rows are alive; each is computed once per strip
            .compute_at(output, y)
            .align_storage(x, vector)  // its rows begin where cache lines do
            .vectorize(x, vector);
        blur_y
            .compute_at(output, y)  // two rows, which share six of the eight that they read
            .align_storage(x, vector)
            .split(x, x, xi, vector)
            .reorder(xi, y, x)
            .vectorize(xi)
            .unroll(y);
        ratio
            .compute_at(output, x)  // one vector in a register; blur_x is inlined into it
            .vectorize(x);
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    // A block has a tile of 58 x 12, a thread two pixels of two rows, so that of gray there are 64
    // in a row. Work that threads repeat is a loop inside theirs: they wait for one another after
    // each turn of a loop around them.
    void schedule_for_gpu() {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), pixel("pixel"), row("row"), turn_x("turn_x"),
            turn_y("turn_y");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        output.tile(x, y, xo, yo, xi, yi, 58, 12, guard)
            .split(xi, xi, pixel, 2)
            .split(yi, yi, row, 2)
            .reorder({pixel, c, row, xi, yi, xo, yo})  // the three colours share one ratio
            .vectorize(pixel)
            .unroll(c)
            .unroll(row)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        ratio.compute_at(output, row).unroll(x);
        blur_y.in().compute_at(output, row).vectorize(x, 2).unroll(x);  // two by one load
        gray.compute_at(output, xo)
            .split(x, turn_x, x, 32, guard)
            .split(y, turn_y, y, 6, guard)
            .reorder(turn_x, turn_y, x, y)
            .unroll(turn_x)
            .unroll(turn_y)
            .gpu_threads(x, y);
        blur_y.compute_at(output, xo)
            .split(x, turn_x, x, 32, guard)
            .split(y, y, row, 2)  // which share what they read
            .reorder(row, turn_x, x, y)
            .unroll(turn_x)
            .unroll(row)
            .gpu_threads(x, y);
    }
};

}  // namespace tessera::apps

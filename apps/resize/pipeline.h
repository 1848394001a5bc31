// A picture at another size: each value is a weighted mean of those around its place, first along
// y, then along x. To make a picture smaller the kernel is widened, so that every value counts.
#pragma once

#include "resize/kernel.h"

#include <tessera.h>

#include <cmath>

namespace tessera::apps {

struct Resize {
    Func floating{"floating"}, raw_weights{"raw_weights"}, weights{"weights"};
    Func along_y{"along_y"}, along_x{"along_x"}, output{"resize"};
    Var x{"x"}, y{"y"}, c{"c"}, i{"i"}, k{"k"};
    RDom tap;
    bool enlarge;
    bool transpose;  // of many taps: two transpositions take less time than their gathers

    // `input` has the dimensions x, y and c; `width` and `height` are its size, `factor` is how
    // many times as large the output is: at least 1 if `enlarging`, else at most 1. The output
    // has at least 64x16 pixels.
    Resize(const Func &input, const Expr &width, const Expr &height, const Expr &factor,
           ResizeKernel kernel, bool enlarging)
        : enlarge(enlarging), transpose(enlarging && reach_of(kernel) >= 2) {
        const Expr step = 1.0f / factor;
        const Expr scale = enlarging ? Expr(1.0f) : factor;
        const Expr reach = reach_of(kernel) / scale;
        const Expr taps =
            enlarging ? Expr(int(2 * reach_of(kernel))) : cast<int>(ceil(2.0f * reach));
        tap = RDom(0, taps, "tap");

        // Strict: rounded to another pixel, a box would take another value.
        auto place = [&](const Expr &at) {
            return strict_float((cast<float>(at) + 0.5f) * step - 0.5f);
        };
        auto first = [&](const Expr &at) {
            return cast<int>(ceil(strict_float(place(at) - reach)));
        };
        raw_weights(i, k) =
            weight(kernel, strict_float((cast<float>(first(i) + k) - place(i)) * scale));
        weights(i, k) = raw_weights(i, k) / sum(raw_weights(i, tap));

        const Type type = Expr(input(x, y, c)).type();
        floating(x, y, c) = cast<float>(
            BoundaryConditions::repeat_edge(input, {{0, width}, {0, height}, {}})(x, y, c));
        along_y(x, y, c) += weights(y, tap) * floating(x, first(y) + tap, c);
        along_x(x, y, c) += weights(x, tap) * along_y(first(x) + tap, y, c);
        if (type.is_float()) {
            output(x, y, c) = clamp(along_x(x, y, c), 0.0f, 1.0f);
        } else {
            output(x, y, c) = saturating_cast(type, along_x(x, y, c) + 0.5f);
        }
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var xi("xi"), yi("yi");
        raw_weights.compute_root().vectorize(i, vector);  // tables: one row per column or row
        weights.compute_root().vectorize(i, vector);
        output.tile(x, y, xi, yi, 64, 16)
            .reorder(xi, yi, x, c, y)
            .vectorize(xi, vector)
            .parallel(y);
        floating
            .compute_at(output, x)  // converted and clamped once for all rows that read it
            .vectorize(x, vector);
        if (enlarge) {
            along_y.update().unroll(tap);
            along_x.update().unroll(tap);
        }
        if (transpose) {
            turn_tiles(vector);
        } else {
            along_y.compute_at(output, x).vectorize(x, vector);
            along_y.update().reorder(tap, x, y).vectorize(x, vector);
            along_x.compute_at(output, xi).vectorize(x);  // a gather for each tap
            along_x.update().reorder(x, tap).vectorize(x);
        }
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    void schedule_for_gpu() {
        Var xi("xi"), yi("yi"), row("row");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        // Tables: one row per column or row.
        raw_weights.compute_root().gpu_tile(i, xi, 64, guard);
        weights.compute_root().gpu_tile(i, xi, 64, guard);
        if (enlarge) {
            along_y.update().unroll(tap);
            along_x.update().unroll(tap);
        }
        Func stored = along_y.in();
        for (Func *pass : {&stored, &output}) {
            pass->split(y, y, row, 4, guard)  // rows share what they take of the table
                .reorder(row, x, y, c)
                .unroll(row)
                .gpu_tile(x, y, xi, yi, 128, 1, guard)
                .gpu_blocks(c);
        }
        stored.compute_root();
        along_y.compute_at(stored, row);
        along_x.compute_at(output, row);
    }

    // Store tiles of the first pass column by column: the second one then has vectors along y,
    // and each tap is one load and not a gather.
    void turn_tiles(int vector) {
        Func turned = along_y.in();
        turned.compute_at(output, x).vectorize(x, vector).reorder_storage(y, x, c);
        along_y.compute_at(turned, x).vectorize(x);
        along_y.update().reorder(x, tap).vectorize(x);
        along_x.compute_at(output, x).reorder(y, x, c).vectorize(y, vector).reorder_storage(y, x,
                                                                                            c);
        along_x.update().reorder(tap, y, x).vectorize(y, vector);
    }

    static Expr sinc(const Expr &at) {
        Expr angle = at * float(M_PI);
        return select(at == 0.0f, 1.0f, sin(angle) / angle);
    }

    static Expr weight(ResizeKernel kernel, const Expr &at) {
        const Expr distance = abs(at);
        switch (kernel) {
        case ResizeKernel::Box:  // of two values at its ends, the first
            return select(at >= -0.5f && at < 0.5f, 1.0f, 0.0f);
        case ResizeKernel::Linear: return max(1.0f - distance, 0.0f);
        case ResizeKernel::Cubic:  // Catmull and Rom's
            return select(distance < 1.0f, (1.5f * distance - 2.5f) * distance * distance + 1.0f,
                          distance < 2.0f,
                          ((2.5f - 0.5f * distance) * distance - 4.0f) * distance + 2.0f, 0.0f);
        case ResizeKernel::Lanczos:
            return select(distance < 3.0f, sinc(at) * sinc(at / 3.0f), 0.0f);
        }
        return {};
    }
};

}  // namespace tessera::apps

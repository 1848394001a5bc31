// Harris' corner detector: where the picture changes in both directions at once.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct Harris {
    Func gray{"gray"}, slope_x{"slope_x"}, slope_y{"slope_y"}, output{"harris"};
    Var x{"x"}, y{"y"};

    // `input` has three colours as floats. The output lies three pixels inside.
    explicit Harris(const Func &input) {
        gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
        slope_x(x, y) =
            (gray(x + 1, y - 1) - gray(x - 1, y - 1) + 2 * (gray(x + 1, y) - gray(x - 1, y)) +
             gray(x + 1, y + 1) - gray(x - 1, y + 1)) /
            12;
        slope_y(x, y) =
            (gray(x - 1, y + 1) - gray(x - 1, y - 1) + 2 * (gray(x, y + 1) - gray(x, y - 1)) +
             gray(x + 1, y + 1) - gray(x + 1, y - 1)) /
            12;

        Func xx("xx"), xy("xy"), yy("yy");
        xx(x, y) = slope_x(x, y) * slope_x(x, y);
        xy(x, y) = slope_x(x, y) * slope_y(x, y);
        yy(x, y) = slope_y(x, y) * slope_y(x, y);
        Expr sum_xx = sum_3x3(xx), sum_xy = sum_3x3(xy), sum_yy = sum_3x3(yy);
        Expr trace = sum_xx + sum_yy;
        output(x, y) = sum_xx * sum_yy - sum_xy * sum_xy - 0.04f * trace * trace;
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var strip("strip"), xi("xi"), yi("yi");
        // Two rows at once share what they read of the rows between.
        output.split(y, y, yi, 2, TailStrategy::GuardWithIf)
            .split(y, strip, y, 64, TailStrategy::GuardWithIf)
            .split(x, x, xi, vector)
            .reorder(xi, yi, x, y, strip)
            .vectorize(xi)
            .unroll(yi)
            .parallel(strip);
        gray.store_at(output, strip)
            .compute_at(output, y)
            .align_storage(x, vector)
            .vectorize(x, vector);
        for (Func *stage : {&slope_x, &slope_y}) {
            stage
                ->store_at(output, strip)  // the last four rows suffice; each is computed once
                .compute_at(output, y)
                .align_bounds(y, 2)        // pairs follow upon pairs
                .align_storage(x, vector)  // its rows begin where cache lines do
                .split(x, x, xi, vector)
                .split(y, y, yi, 2)
                .reorder(xi, yi, x, y)
                .vectorize(xi)
                .unroll(yi);
        }
        // The products and their sums are inlined: cheaper again than to load them.
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    // A block has a tile of 62 x 14, a thread two pixels of it, whose slopes it loads first.
    void schedule_for_gpu() {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), pixel("pixel");
        output.tile(x, y, xo, yo, xi, yi, 62, 14)
            .split(xi, xi, pixel, 2)
            .unroll(pixel)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        output.gpu_resident_blocks(
            2);  // else ptxas leaves room for four, with 32 registers a thread
        gray.compute_at(output, xo)
            .split(x, x, xi, 3)
            .split(y, y, yi, 2)
            .reorder(xi, yi, x, y)
            .unroll(xi)
            .unroll(yi)
            .gpu_threads(x, y);
        for (Func *slope : {&slope_x, &slope_y}) {
            slope->compute_at(output, xo).split(x, x, pixel, 2).unroll(pixel).gpu_threads(x, y);
            slope->in().compute_at(output, xi).vectorize(x, 2).unroll(x).unroll(y);
        }
        Func window = gray.in(slope_y);
        window.compute_at(slope_y, x).vectorize(x, 2).unroll(x).unroll(y);
    }

    Expr sum_3x3(const Func &f) {
        Expr sum = 0.0f;
        for (int j = -1; j <= 1; j++) {
            for (int i = -1; i <= 1; i++) sum += f(x + i, y + j);
        }
        return sum;
    }
};

}  // namespace tessera::apps

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
        const int vector = target.natural_vector_size<float>();
        Var strip("strip");
        output.vectorize(x, vector)
            .split(y, strip, y, 128, TailStrategy::GuardWithIf)
            .parallel(strip);
        for (Func *stage : {&gray, &slope_x, &slope_y}) {
            stage
                ->store_at(output, strip)  // the last three rows suffice; each is computed once
                .compute_at(output, y)
                .align_storage(x, vector)  // its rows begin where cache lines do
                .vectorize(x, vector);
        }
        // The products and their sums are inlined: cheaper again than to load them.
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    Expr sum_3x3(const Func &f) {
        Expr sum = 0.0f;
        for (int j = -1; j <= 1; j++) {
            for (int i = -1; i <= 1; i++) sum += f(x + i, y + j);
        }
        return sum;
    }
};

}  // namespace tessera::apps

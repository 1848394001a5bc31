// A 3x3 box blur of floats.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct BlurF32 {
    Func rows{"rows"}, output{"blur_f32"};
    Var x{"x"}, y{"y"};

    explicit BlurF32(const Func &input) {
        rows(x, y) = input(x, y) + input(x + 1, y) + input(x + 2, y);
        output(x, y) = (rows(x, y) + rows(x, y + 1) + rows(x, y + 2)) * (1.0f / 9);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var xi("xi"), yi("yi"), strip("strip");
        output
            .tile(x, y, xi, yi, vector, 8)  // small enough for the sums to stay in registers
            .vectorize(xi)
            .unroll(yi)
            .split(y, strip, y, 16, TailStrategy::GuardWithIf)
            .parallel(strip);       // 128 rows a task: few tasks, and the rows shared are still few
        rows.compute_at(output, x)  // ten rows for eight: recomputing two beats storing them
            .vectorize(x)
            .unroll(y);
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    void schedule_for_gpu() {
        Var pixel("pixel"), row("row"), xi("xi"), yi("yi");
        output
            .split(x, x, pixel, 2)  // two pixels of four rows a thread
            .split(y, y, row, 4, TailStrategy::GuardWithIf)
            .reorder(pixel, row, x, y)
            .vectorize(pixel)
            .unroll(row)
            .gpu_tile(x, y, xi, yi, 128, 1, TailStrategy::GuardWithIf);
        rows.compute_at(output, xi)  // six rows for four, in registers
            .vectorize(x)
            .unroll(y);
    }
};

}  // namespace tessera::apps

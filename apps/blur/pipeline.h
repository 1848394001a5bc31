// A 3x3 box blur, the smallest pipeline in which a schedule matters.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct Blur {
    Func blur_x{"blur_x"}, output{"blur"};
    Var x{"x"}, y{"y"};

    // `input` has values of uint16_t of at most 14 bits, so that three of them add up.
    explicit Blur(const Func &input) {
        blur_x(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
        output(x, y) = (blur_x(x, y) + blur_x(x, y + 1) + blur_x(x, y + 2)) / 3;
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<uint16_t>();
        Var xi("xi"), yi("yi"), strip("strip");
        output
            .tile(x, y, xi, yi, vector, 16)  // eighteen rows of blur_x for sixteen
            .vectorize(xi)
            .unroll(yi)
            .split(y, strip, y, 8, TailStrategy::GuardWithIf)
            .parallel(strip);  // 128 rows a task: few tasks, and the rows shared are still few
        blur_x
            .compute_at(output, x)  // one row at a time, in registers
            .vectorize(x)
            .unroll(y);
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    void schedule_for_gpu() {
        Var pixel("pixel"), row("row"), xi("xi"), yi("yi");
        output
            .split(x, x, pixel, 2)  // two pixels of eight rows a thread
            .split(y, y, row, 8)
            .reorder(pixel, row, x, y)
            .vectorize(pixel)
            .unroll(row)
            .gpu_tile(x, y, xi, yi, 32, 1);
        blur_x
            .compute_at(output, xi)  // ten rows for eight, in registers
            .vectorize(x)
            .unroll(y);
    }
};

}  // namespace tessera::apps

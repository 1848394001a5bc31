// Equalization of a picture's histogram: each brightness becomes the part of the picture that is
// not brighter, and the colours stay.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct Hist {
    Func luma{"luma"}, histogram{"histogram"}, cdf{"cdf"}, tone{"tone"}, equalized{"equalized"};
    Func output{"hist"};
    Var x{"x"}, y{"y"}, c{"c"}, v{"v"};
    RDom r, b{1, 255, "b"};

    // `input` has three colours of uint8_t; `width` and `height` are its size.
    Hist(const Func &input, const Expr &width, const Expr &height) : r(0, width, 0, height, "r") {
        // Strict: where it is rounded to another brightness, the picture changes by a whole step.
        auto value = [&](int colour) { return cast<float>(input(x, y, colour)); };
        luma(x, y) = cast<uint8_t>(
            strict_float(0.299f * value(0) + 0.587f * value(1) + 0.114f * value(2) + 0.5f));

        histogram(v) = 0;
        histogram(cast<int>(luma(r.x, r.y))) += 1;
        cdf(v) = histogram(0);
        cdf(b) = cdf(b - 1) + histogram(b);
        tone(v) = cast<uint8_t>(
            clamp(strict_float(cast<float>(cdf(v)) * (255.0f / cast<float>(width * height))), 0.0f,
                  255.0f));
        equalized(x, y) = tone(cast<int>(luma(x, y)));

        // The two differences of colour, as in JPEG's, keep their value.
        Expr before = cast<float>(luma(x, y)), after = cast<float>(equalized(x, y));
        Expr red = (value(0) - before) * 0.713f, blue = (value(2) - before) * 0.564f;
        Expr colour = mux(
            c, {after + 1.402f * red, after - 0.344f * blue - 0.714f * red, after + 1.772f * blue});
        output(x, y, c) = cast<uint8_t>(clamp(colour + 0.5f, 0.0f, 255.0f));
        output.bound(c, 0, 3);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var strip("strip"), turn("turn");
        RVar strips("strips"), rows("rows"), quads("quads"), turns("turns");
        histogram.compute_root().vectorize(v, vector);
        histogram.update().split(r.y, strips, rows, 64).split(rows, quads, turns, 4);
        // Each strip counts for itself, and four rows in turn: equal values side by side would wait
        // for one another.
        Func part = histogram.update().rfactor({{strips, strip}, {turns, turn}});
        histogram.update().reorder(v, turns, strips).vectorize(v, vector);
        part.compute_root().vectorize(v, vector).parallel(strip);
        part.update().reorder(turn, r.x, quads, strip).unroll(turn).parallel(strip);
        luma.clone_in(part)  // computed again for the output: less to do than to store it
            .compute_at(part, quads)
            .vectorize(x, vector);
        cdf.compute_root();
        tone.compute_root().vectorize(v, vector);
        output
            .reorder(c, x, y)  // the colours share the brightness
            .unroll(c)
            .vectorize(x, vector)
            .parallel(y, 32);
        luma.compute_at(output, y).vectorize(x, vector);
        equalized.compute_at(output, y).vectorize(
            x, target.natural_vector_size<uint8_t>());  // a table that fits in registers
    }

private:
    void schedule_for_gpu() {
        Var strip("strip"), vo("vo"), vi("vi"), xi("xi"), yi("yi");
        RVar strips("strips"), rows("rows"), steps("steps"), columns("columns");
        // A block counts the values of a strip, in its own memory.
        histogram.update().split(r.y, strips, rows, 16);
        Func part = histogram.update().rfactor(strips, strip), stored = part.in();
        stored.compute_root().gpu_blocks(strip).gpu_threads(v);
        part.compute_at(stored, strip).gpu_threads(v);
        part.update()
            .split(r.x, steps, columns, 256)
            .reorder(steps, rows, columns, strip)
            .atomic()
            .gpu_threads(columns);
        // One block adds up what the strips have, and one thread of it what is before each value.
        tone.compute_root().bound(v, 0, 256).gpu_tile(v, vo, vi, 256);
        histogram.compute_at(tone, vo).gpu_threads(v);
        histogram.update().reorder(strips, v).unroll(strips, 8).gpu_threads(v);
        cdf.compute_at(tone, vo).gpu_threads(v).update().unroll(b, 15);
        output.reorder(c, x, y).unroll(c);
        output.gpu_tile(x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
    }
};

}  // namespace tessera::apps

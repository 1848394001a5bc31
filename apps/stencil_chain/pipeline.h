// A chain of weighted 5x5 stencils in 16 bits that wrap: what overlapped tiles and sliding windows
// are for, and a test of how long a compiler takes.
#pragma once

#include <tessera.h>

#include <string>
#include <vector>

namespace tessera::apps {

struct StencilChain {
    Func padded{"padded"}, output{"stencil_chain"};
    std::vector<Func> stages;
    Var x{"x"}, y{"y"};

    // `input` is a picture of uint16_t of this size; around it, its edge is repeated.
    StencilChain(const Func &input, const Expr &width, const Expr &height, int count = 32) {
        padded(x, y) = BoundaryConditions::repeat_edge(input, {{0, width}, {0, height}})(x, y);
        Func previous = padded;
        for (int i = 0; i < count; i++) {
            Func stage("stage" + std::to_string(i));
            stage(x, y) = weighted_5x5(previous);
            stages.push_back(stage);
            previous = stage;
        }
        output(x, y) = previous(x, y);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<uint16_t>();
        const size_t group = 8;  // of stages in one sweep: their rows stay in the second cache
        Var strip("strip");
        Func last = output;
        for (size_t i = stages.size(); i-- > 0;) {
            if ((i + 1) % group == 0 && i + 1 < stages.size()) {
                last = stages[i];
                last.compute_root();
                sweep(last, strip, vector);
            } else {
                slide(stages[i], last, strip, vector);
            }
        }
        sweep(output, strip, vector);
        slide(padded, last, strip, vector);
    }

private:
    void schedule_for_gpu() {
        Var xi("xi"), yi("yi"), pixel("pixel"), row("row");
        output.compute_root();
        for (Func f : stages) f.compute_root();
        stages.back().compute_inline();
        stages.back() = output;
        for (Func f : stages) {
            f.split(x, x, pixel, 2)  // four rows of two pixels a thread
                .split(y, y, row, 4, TailStrategy::GuardWithIf)
                .reorder(pixel, row, x, y)
                .vectorize(pixel)
                .unroll(row)
                .gpu_tile(x, y, xi, yi, 32, 4, TailStrategy::GuardWithIf);
        }
    }

    Expr weighted_5x5(const Func &f) {
        Expr sum = cast<uint16_t>(0);
        for (int j = -2; j <= 2; j++) {
            for (int i = -2; i <= 2; i++) {
                sum += cast<uint16_t>((i + 3) * (j + 3)) * f(x + i, y + j);
            }
        }
        return sum;
    }

    // Two rows at once share four of the six rows that they read.
    void sweep(Func f, const Var &strip, int vector) {
        Var xi("xi"), yi("yi");
        f.split(y, y, yi, 2, TailStrategy::GuardWithIf)
            .split(y, strip, y, 64, TailStrategy::GuardWithIf)  // a group repeats 32 of 128 rows
            .split(x, x, xi, vector)
            .reorder(xi, yi, x, y, strip)
            .vectorize(xi)
            .unroll(yi)
            .parallel(strip);
    }

    void slide(Func f, const Func &last, const Var &strip, int vector) {
        Var xi("xi"), yi("yi");
        f.store_at(last, strip)  // six rows are alive; each is computed once per strip
            .compute_at(last, y)
            .align_bounds(y, 2)  // pairs follow upon pairs
            .split(x, x, xi, vector)
            .split(y, y, yi, 2)
            .reorder(xi, yi, x, y)
            .vectorize(xi)
            .unroll(yi);
    }
};

}  // namespace tessera::apps

#pragma once
#include <tessera.h>

#include <string>
#include <vector>

// Pipelines of many stages, for the benchmark of compile time and for a test that small ones
// compute what they should.
namespace tessera::bench {

// Stages, each computed in full before the next: the last one is x plus the sum of their numbers.
inline Func chain(int stages) {
    Var x("x");
    Func previous("stage_0");
    previous(x) = x;
    for (int i = 1; i < stages; i++) {
        Func next("stage_" + std::to_string(i));
        next(x) = previous(x) + i;
        previous.compute_root();
        previous = next;
    }
    return previous;
}

// Each reads the one before it at three rows. They have no schedule.
inline std::vector<Func> stencils(int count) {
    Var x("x"), y("y");
    std::vector<Func> all = {Func("stencil_0")};
    all[0](x, y) = cast<uint32_t>(x + y);
    for (int i = 1; i < count; i++) {
        Func next("stencil_" + std::to_string(i));
        const Func &last = all.back();
        next(x, y) = last(x, y - 1) + last(x, y) * 2 + last(x, y + 1);
        all.push_back(next);
    }
    return all;
}

// The last of them, in vectors, each row computed as the stages below it come to need it, strip by
// strip of so many rows.
inline Func sliding(std::vector<Func> stages, int strip_height) {
    Var x("x"), y("y"), strip("strip");
    Func output = stages.back();
    output.split(y, strip, y, strip_height, TailStrategy::GuardWithIf).vectorize(x, 8);
    stages.pop_back();
    for (Func &stage : stages) stage.store_at(output, strip).compute_at(output, y).vectorize(x, 8);
    return output;
}

// The same stages, all in tiles of two rows.
inline Func sliding_tiles(int count) {
    Var x("x"), y("y"), xi("xi"), yi("yi"), strip("strip");
    std::vector<Func> stages = stencils(count);
    Func output = stages.back();
    auto tile = [&](Func f) { f.tile(x, y, xi, yi, 8, 2).vectorize(xi).unroll(yi); };
    tile(output);
    output.split(y, strip, y, 64, TailStrategy::GuardWithIf);
    stages.pop_back();
    for (Func &stage : stages) tile(stage.store_at(output, strip).compute_at(output, y));
    return output;
}

}  // namespace tessera::bench

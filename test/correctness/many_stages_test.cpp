#include <doctest/doctest.h>
#include <tessera.h>

using namespace tessera;

namespace {

constexpr int stages = 45, width = 50, height = 40;

// Each stage reads the one before it at three rows.
Buffer<int> stencils(bool sliding) {
    Var x("x"), y("y"), strip("strip");
    std::vector<Func> all = {Func("stencil_0")};
    all[0](x, y) = x + y;
    for (int i = 1; i < stages; i++) {
        Func next("stencil_" + std::to_string(i));
        const Func &last = all.back();
        next(x, y) = (last(x, y - 1) + last(x, y) * 2 + last(x, y + 1)) % 1000;
        all.push_back(next);
    }
    Func output = all.back();
    all.pop_back();
    if (sliding) output.split(y, strip, y, 16, TailStrategy::GuardWithIf).vectorize(x, 8);
    for (Func &stage : all) {
        if (sliding) {
            stage.store_at(output, strip).compute_at(output, y).vectorize(x, 8);
        } else {
            stage.compute_root();
        }
    }
    return output.realize({width, height});
}

}  // namespace

TEST_SUITE("many stages") {
    TEST_CASE("a chain of many stages at the root") {
        Var x("x");
        Func previous("stage_0");
        previous(x) = x;
        for (int i = 1; i < stages; i++) {
            Func next("stage_" + std::to_string(i));
            next(x) = previous(x) + i;
            previous.compute_root();
            previous = next;
        }
        Buffer<int> result = previous.realize({width});
        for (int i = 0; i < width; i++) CHECK(result(i) == i + stages * (stages - 1) / 2);
    }
    TEST_CASE("many stencils under sliding windows compute what they do at the root") {
        Buffer<int> sliding = stencils(true), whole = stencils(false);
        for (int j = 0; j < height; j++) {
            for (int i = 0; i < width; i++) REQUIRE(sliding(i, j) == whole(i, j));
        }
    }
}

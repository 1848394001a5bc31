// Lesson 3: boundaries.
//
// A filter reads the neighbours of each point, and at the edge of an image there are none. Which
// values are to be read there is a part of the algorithm.
#include "check.h"
#include <iostream>
#include <tessera.h>
#include <vector>

using namespace tessera;

namespace {

Var x("x");

// Returns the values from 3 before a row of 4 to 3 after it.
std::vector<int> around(const Func &condition) {
    Func shifted("shifted");
    shifted(x) = condition(x - 3);
    Buffer<int> values = shifted.realize({10});
    return {values.begin(), values.end()};
}

}  // namespace

int main() {
    Buffer<int> row(4);
    row.fill([](int i) { return i + 1; });

    // Without a rule, the compiler finds out which part of an input is needed, and refuses one that
    // is too small.
    ImageParam source(Int(32), 1, "source");
    Func ahead("ahead");
    ahead(x) = source(x + 1);
    source.set(row);
    Buffer<int> three = ahead.realize({3});
    check(three(0) == 2 && three(2) == 4);
    bool refused = false;
    try {
        ahead.realize({4});
    } catch (const RuntimeError &e) {
        std::cout << e.what() << "\n";
        refused = true;
    }
    check(refused);

    // BoundaryConditions has Funcs that are the image inside of its bounds, and something else
    // outside.
    using namespace BoundaryConditions;
    using Row = std::vector<int>;
    check(around(repeat_edge(row)) == Row{1, 1, 1, 1, 2, 3, 4, 4, 4, 4});
    check(around(constant_exterior(row, 0)) == Row{0, 0, 0, 1, 2, 3, 4, 0, 0, 0});
    check(around(repeat_image(row)) == Row{2, 3, 4, 1, 2, 3, 4, 1, 2, 3});
    check(around(mirror_image(row)) == Row{3, 2, 1, 1, 2, 3, 4, 4, 3, 2});
    check(around(mirror_interior(row)) == Row{4, 3, 2, 1, 2, 3, 4, 3, 2, 1});

    // They cost little: a loop over x is split into the part where all neighbours exist, which has
    // no tests, and the few iterations at both ends.
    Func clamped = repeat_edge(source), blur("blur");
    blur(x) = (clamped(x - 1) + clamped(x) + clamped(x + 1)) / 3;
    blur.vectorize(x, 8);
    Buffer<int> numbers(1000);
    numbers.fill([](int i) { return 3 * i; });
    source.set(numbers);
    Buffer<int> blurred = blur.realize({1000});
    check(blurred(0) == 1 && blurred(500) == 1500 && blurred(999) == 2996);

    // A rule of your own is an expression like any other.
    Func fade("fade");
    Expr nearest = row(clamp(x, 0, 3));
    fade(x) = select(x >= 0 && x < 4, nearest, nearest / 2);
    Buffer<int> faded = fade.realize({6});
    check(faded(3) == 4 && faded(4) == 2);
}

// Lesson 2: schedules and loop nests.
//
// What is computed (the algorithm) and how it is computed (the schedule) are written apart. A
// schedule changes the speed, and never the result.
#include "check.h"
#include <iostream>
#include <tessera.h>

using namespace tessera;

namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

Func product() {
    Func f("f");
    f(x, y) = x * y;
    return f;
}

bool is_right(Func f, int width, int height) {
    Buffer<int> result = f.realize({width, height});
    bool right = true;
    result.for_each_element([&](int i, int j) { right &= result(i, j) == i * j; });
    return right;
}

bool has(const Func &f, const std::string &text) {
    return f.loop_nest().find(text) != std::string::npos;
}

}  // namespace

int main() {
    // Without a schedule there are two loops, and the innermost runs along memory.
    Func plain = product();
    std::cout << plain.loop_nest();
    check(plain.loop_nest().find("f.y") < plain.loop_nest().find("f.x"));

    // reorder() lists loops from the innermost to the outermost.
    Func columns = product();
    columns.reorder(y, x);
    check(columns.loop_nest().find("f.x") < columns.loop_nest().find("f.y"));
    check(is_right(columns, 64, 32));

    // split() makes two loops of one: x = xo * 8 + xi. The inner one can become a vector.
    Func vectors = product();
    vectors.split(x, xo, xi, 8).vectorize(xi);
    check(has(vectors, "vectorized f.xi"));
    check(is_right(vectors, 64, 32));

    // tile() splits two loops at once: a small rectangle is computed before the next one.
    // parallel() gives rows of tiles to all cores, unroll() writes a loop's body several times.
    Func tiled = product();
    tiled.tile(x, y, xo, yo, xi, yi, 16, 4).vectorize(xi, 8).unroll(yi, 2).parallel(yo);
    std::cout << tiled.loop_nest();
    check(has(tiled, "parallel f.yo"));
    check(is_right(tiled, 64, 32));

    // Sizes need not be multiples of the factors.
    check(is_right(tiled, 61, 31));

    // A schedule that makes no sense is refused where it is written, with the loops that there are.
    bool refused = false;
    try {
        product().vectorize(Var("z"), 8);
    } catch (const CompileError &e) {
        std::cout << e.what() << "\n";
        refused = true;
    }
    check(refused);

    // The schedule as C++, and the whole program as a page for a browser, with loops that fold.
    std::cout << tiled.schedule_as_cpp();
    const std::string page = tiled.compile_to_string(OutputFileType::stmt_html);
    check(page.starts_with("<!DOCTYPE html>"));
}

// Lesson 1: a first Func.
//
// A Func says what the value at every point of a grid is. Nothing is computed until somebody asks
// for a part of it.
#include "check.h"
#include <iostream>
#include <tessera.h>

using namespace tessera;

int main() {
    Var x("x"), y("y");
    Func gradient("gradient");
    gradient(x, y) = x + 10 * y;

    // realize() compiles the Func to machine code, and computes a rectangle: 4 columns and 3 rows.
    Buffer<int> result = gradient.realize({4, 3});
    check(result.width() == 4 && result.height() == 3);
    check(result(1, 2) == 21);

    // A Func may read others, and Buffers. This one brightens a small picture: u16 makes room for
    // the sum, since 8 bits would wrap around at 256, and u8 makes 8 bits of what min has cut.
    Buffer<uint8_t> picture(3, 2);
    picture.fill([](int i, int j) { return uint8_t(100 * i + 50 * j); });
    Func brighter("brighter");
    brighter(x, y) = u8(min(u16(picture(x, y)) + 50, 255));
    Buffer<uint8_t> bright = brighter.realize({3, 2});
    check(bright(0, 0) == 50 && bright(1, 1) == 200 && bright(2, 1) == 255);

    // What it holds is an expression, which can be printed.
    std::cout << brighter.value() << "\n";

    // Mistakes name the line of the definition that they are about.
    Func wrong("wrong");
    wrong(x, y) = x + y;
    bool refused = false;
    try {
        wrong(x) = 1;
    } catch (const CompileError &e) {
        std::cout << e.what() << "\n";
        refused = e.where().line == uint32_t(__LINE__ - 3);
    }
    check(refused);

    // Results can be written where they are wanted: into a Buffer of your own.
    Buffer<uint8_t> mine(3, 2);
    brighter.realize(mine);
    check(mine(2, 1) == 255);
}

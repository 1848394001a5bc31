#pragma once
#include "calls.h"
#include "harness.h"

namespace tessera::test {

// out reads three rows of f, which counts how often it is computed.
struct Stencil {
    Var x{"x"}, y{"y"}, yo{"yo"}, yi{"yi"};
    Func f{"f"}, out{"out"};
    Stencil() {
        f(x, y) = counted(x * 5 + y * y * 3);
        out(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);
    }
    static int expected(int x, int y) {
        int sum = 0;
        for (int j = y - 1; j <= y + 1; j++) sum += x * 5 + j * j * 3;
        return sum;
    }
    void check(const Lowered &l) const {
        for (int size : {1, 7, 8, 9, 37}) {
            CAPTURE(size);
            l.check<int>({3, size}, expected);
            l.check<int>({size, 3}, expected, {5, -9});
        }
    }
    // How often f is computed for an output of this size.
    int calls(const Lowered &l, int width, int height) const {
        return calls_during([&] { l.check<int>({width, height}, expected); }) / 2;
    }
};

}  // namespace tessera::test

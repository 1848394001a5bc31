#include "../program.h"

// Programs that name both namespaces.

namespace both {

using namespace std;
using namespace Halide;

static int extremes() {
    Var x;
    RDom r(0, 3);
    Param<int> p;
    p.set(4);
    Func f, g;
    f(x) = x * 2;
    Expr a = Expr(x) + 1, b = 7;
    const Expr c = a, zero = 0;
    g(x) = min(a, b) + max(a, b) + clamp(b, zero, c) + min(c, c) + min(x, 3) + max(3, a) +
           max(f(x), f(x)) + max(f(x), a) + min(p, a) + max(a + 1, b * 2) + clamp(x, 0, 3) +
           clamp(f(x), 0, 3) + max(a, 3, 4) + min(x, p, a) + sum(max(r, x));
    Buffer<int> out = g.realize({8});
    for (int i = 0; i < 8; i++) {
        int r_sum = std::max(0, i) + std::max(1, i) + std::max(2, i), a_at = i + 1;
        int clamped = std::min(7, a_at);
        EXPECT(out(i) == std::min(a_at, 7) + std::max(a_at, 7) + clamped + a_at + std::min(i, 3) +
                             std::max(3, a_at) + 2 * i + std::max(2 * i, a_at) + std::min(4, a_at) +
                             std::max(a_at + 1, 14) + std::min(i, 3) + std::min(2 * i, 3) +
                             std::max(a_at, 4) + std::min(i, 4) + r_sum);
    }
    return 0;
}

static int floats() {
    Var x;
    Func f;
    Expr e = cast<float>(x);
    f(x) = sqrt(abs(e)) + floor(e) + pow(e, 2.0f) + hypot(e, e) + lerp(e, e, 0.5f) + max(e, 1.0f) +
           round(e) + select(isfinite(1.0), e, 0.0f);
    Buffer<float> out = f.realize({2});
    EXPECT(std::abs(out(1) - (1 + 1 + 1 + std::sqrt(2.0f) + 1 + 1 + 1 + 1)) < 1e-5f);
    return 0;
}

}  // namespace both

PROGRAM(extremes_beside_those_of_std) { return both::extremes(); }
PROGRAM(floats_beside_those_of_std) { return both::floats(); }

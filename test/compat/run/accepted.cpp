#include "../program.h"

// What may look wrong, and is not.

PROGRAM(updates_of_an_inlined_func) {
    Var x, y;
    Func f("f"), g("g");
    f(x, y) = x + y;
    f(x, y) += 1;
    g(x, y) = f(x, y);
    f.compute_inline();
    f.vectorize(x, 4);
    Buffer<int> out = g.realize({4, 4});
    EXPECT(out(2, 3) == 6);
    return 0;
}

PROGRAM(update_rounded_up) {
    Var x, y, xo, xi;
    Func f("f");
    f(x, y) = x + y;
    f(x, y) += 1;
    f.update().split(x, xo, xi, 8, TailStrategy::RoundUp);
    Buffer<int> out = f.realize({9, 9});
    EXPECT(out.width() == 9 && out(8, 8) == 17);
    return 0;
}

PROGRAM(async_of_an_inlined_func) {
    Var x;
    Func f, g;
    f(x) = x;
    g(x) = f(x) * 2;
    f.async();
    Buffer<int> out = g.realize({4});
    EXPECT(out(3) == 6);
    return 0;
}

PROGRAM(func_used_twice_with_one_schedule) {
    Var x;
    Func f("f"), g("g"), h("h");
    f(x) = x;
    g(x) = f(x) + f(x + 1);
    h(x) = f(x) + g(x);
    f.compute_root();
    g.compute_root();
    Buffer<int> a = h.realize({4}), b = g.realize({4});
    EXPECT(a(2) == 7 && b(2) == 5);
    return 0;
}

PROGRAM(rdom_that_is_empty) {
    Var x;
    RDom r(0, 0);
    Func f;
    f(x) = 3;
    f(x) += r;
    Buffer<int> out = f.realize({2});
    EXPECT(out(1) == 3);
    return 0;
}

PROGRAM(empty_output) {
    Var x, y;
    Func f;
    f(x, y) = x;
    Buffer<int> out(0, 4);
    f.realize(out);
    EXPECT(out.number_of_elements() == 0);
    return 0;
}

PROGRAM(names_that_repeat) {
    Var x("x");
    Func a("f"), b("f");
    a(x) = x;
    b(x) = a(x) + 1;
    a.compute_root();
    Buffer<int> out = b.realize({3});
    EXPECT(out(2) == 3);
    return 0;
}

PROGRAM(division_by_zero_is_zero) {
    Var x;
    Func f;
    f(x) = 10 / x + 10 % x;
    Buffer<int> out = f.realize({3});
    EXPECT(out(0) == 0 && out(2) == 5);
    return 0;
}

PROGRAM(schedules_that_change) {
    Var x;
    Func f, g;
    f(x) = x;
    g(x) = f(x) + 1;
    f.compute_root();
    Buffer<int> a = g.realize({4});
    f.compute_inline();
    g.vectorize(x, 4);
    Buffer<int> b = g.realize({8});
    EXPECT(a(3) == 4 && b(7) == 8);
    return 0;
}

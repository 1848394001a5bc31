#include "../program.h"

namespace {
Buffer<int> small() {
    Buffer<int> b(4, 3);
    b.fill([](int x, int y) { return x + 10 * y; });
    return b;
}
int wrap(int i, int n) { return ((i % n) + n) % n; }
}  // namespace

PROGRAM(constant_exteriors) {
    Buffer<int> in = small();
    Func a = BoundaryConditions::constant_exterior(in, 99);
    Func b = BoundaryConditions::constant_exterior(in, 7, {{1, 2}, {0, 2}});
    Func c = BoundaryConditions::constant_exterior(in, 5, 0, 4, 0, 3);
    Func d = BoundaryConditions::constant_exterior(in, 5, {{0, 4}, {Expr(), Expr()}});
    Buffer<int> out(8, 7);
    out.set_min(-2, -2);
    a.realize(out);
    EXPECT(out(-1, 0) == 99 && out(0, 0) == 0 && out(3, 2) == 23 && out(4, 2) == 99);
    b.realize(out);
    EXPECT(out(0, 0) == 7 && out(1, 1) == 11 && out(1, 2) == 7);
    c.realize(out);
    EXPECT(out(-2, -2) == 5 && out(2, 2) == 22);
    return 0;
}

PROGRAM(edges_and_mirrors) {
    Buffer<int> in = small();
    Func edge = BoundaryConditions::repeat_edge(in), image = BoundaryConditions::repeat_image(in);
    Func mirror = BoundaryConditions::mirror_image(in);
    Func interior = BoundaryConditions::mirror_interior(in);
    Buffer<int> a(12, 9), b(12, 9), c(12, 9), d(12, 9);
    for (Buffer<int> *out : {&a, &b, &c, &d}) out->set_min(-4, -3);
    edge.realize(a);
    image.realize(b);
    mirror.realize(c);
    interior.realize(d);
    for (int y = -3; y < 6; y++) {
        for (int x = -4; x < 8; x++) {
            auto at = [&](int i, int j) { return in(i, j); };
            int ex = std::min(std::max(x, 0), 3), ey = std::min(std::max(y, 0), 2);
            EXPECT(a(x, y) == at(ex, ey));
            EXPECT(b(x, y) == at(wrap(x, 4), wrap(y, 3)));
            int mx = wrap(x, 8), my = wrap(y, 6);
            EXPECT(c(x, y) == at(mx < 4 ? mx : 7 - mx, my < 3 ? my : 5 - my));
            int ix = wrap(x, 6), iy = wrap(y, 4);
            EXPECT(d(x, y) == at(ix < 4 ? ix : 6 - ix, iy < 3 ? iy : 4 - iy));
        }
    }
    return 0;
}

PROGRAM(boundaries_of_funcs_and_images) {
    Var x, y;
    Func f;
    f(x, y) = x + 10 * y;
    Func g = BoundaryConditions::repeat_edge(f, {{0, 4}, {0, 3}});
    Buffer<int> out(8, 8);
    out.set_min(-2, -2);
    g.realize(out);
    EXPECT(out(-2, 5) == 20);
    ImageParam in(Int(32), 2);
    Func h = BoundaryConditions::mirror_interior(in);
    in.set(small());
    h.realize(out);
    EXPECT(out(-1, 0) == 1);
    Region region = {Range(0, 4), Range(0, 3)};
    Func k = BoundaryConditions::repeat_image(f, region);
    k.realize(out);
    EXPECT(out(-1, 0) == 3);
    return 0;
}

PROGRAM(boundaries_of_tuples) {
    Var x;
    Func f;
    f(x) = Tuple(x, cast<float>(x));
    Func g = BoundaryConditions::constant_exterior(f, Tuple(Expr(9), Expr(2.5f)), {{0, 4}});
    Realization r = g.realize({6});
    Buffer<int> a = r[0];
    Buffer<float> b = r[1];
    EXPECT(a(3) == 3 && a(5) == 9 && b(5) == 2.5f);
    return 0;
}

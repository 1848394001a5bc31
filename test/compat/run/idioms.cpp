#include "../program.h"

using namespace Halide::ConciseCasts;
using namespace Halide::Internal;

PROGRAM(powers_and_shifts) {
    Var x;
    Func f;
    f(x) = pow(cast<float>(x), 3) + pow(x * 0.5f, 2) + pow(cast<float>(x) + 1, -2) +
           pow(1.5f, cast<float>(x)) + pow(cast<double>(x), 4);
    Buffer<double> o = f.realize({6});
    for (int i = 0; i < 6; i++)
        EXPECT(fabs(o(i) - (i * i * i + 0.25 * i * i + 1.0 / ((i + 1) * (i + 1)) + pow(1.5, i) +
                            pow(i, 4))) < 1e-3);
    Param<int> sh;
    sh.set(-2);
    Func g;
    g(x) = (x << sh) + (x >> sh) + (x << 3) + (cast<uint8_t>(x) << cast<uint8_t>(2)) + (x >> 1) +
           (-x >> 1);
    Buffer<int> go = g.realize({10});
    EXPECT(go(8) == (8 >> 2) + (8 << 2) + 64 + 32 + 4 - 4);
    Func h;
    h(x) = cast<uint32_t>(5) << (cast<int>(x) - 2);
    Buffer<uint32_t> ho = h.realize({5});
    EXPECT(ho(0) == 1 && ho(2) == 5 && ho(4) == 20);
    return 0;
}
PROGRAM(divisions) {
    Var x;
    Func f;
    f(x) = Tuple((x - 10) / 3, (x - 10) % 3, (x - 10) / -3, (x - 10) % -3,
                 div_round_to_zero(x - 10, 3), mod_round_to_zero(x - 10, 3),
                 cast<int8_t>(x - 10) / cast<int8_t>(x - 5), cast<float>(x - 10) / 4,
                 fract(cast<float>(x) / 4 - 2), cast<uint16_t>(x) / 7);
    Realization r = f.realize({20});
    Buffer<int> q = r[0], m = r[1], q2 = r[2], m2 = r[3], z = r[4], zm = r[5];
    Buffer<int8_t> b = r[6];
    for (int i = 0; i < 20; i++) {
        int v = i - 10, e = v >= 0 ? v / 3 : -((-v + 2) / 3);
        EXPECT(q(i) == e && m(i) == v - 3 * e && q2(i) == -e && m2(i) == v - 3 * e &&
               z(i) == v / 3 && zm(i) == v % 3);
        if (i == 5) EXPECT(b(i) == 0);
    }
    return 0;
}
PROGRAM(casts_saturating) {
    Var x;
    Func f;
    f(x) = Tuple(u8_sat(x * 100 - 200), i8_sat(x * 100 - 200), u16_sat(-x), i16_sat(x * 20000),
                 saturating_cast<uint8_t>(x * 50.5f), saturating_cast(Int(8), x * 100), u8(x * 100),
                 i8(x * 100), f32(x), i64(x) * i64(1 << 20) * i64(1 << 20), u32(x), u64(x),
                 i32(3.7f), f64(x), f16(x), bf16(x));
    Realization r = f.realize({6});
    Buffer<uint8_t> a = r[0];
    Buffer<int8_t> b = r[1];
    Buffer<uint8_t> c = r[4], d = r[6];
    EXPECT(a(0) == 0 && a(3) == 100 && a(5) == 255 && b(0) == -128 && b(5) == 127 && c(5) == 252 &&
           d(3) == 44);
    return 0;
}
PROGRAM(selects) {
    Var x;
    Func f;
    f(x) = select(x == 0, 5, x == 1, 7, x == 2, -3, 100);
    Buffer<int> o = f.realize({5});
    EXPECT(o(0) == 5 && o(1) == 7 && o(2) == -3 && o(4) == 100);
    Func g;
    g(x) = select(x > 2, cast<uint8_t>(3), 4);
    EXPECT(g.type() == UInt(8));
    Func h;
    h(x) = mux(x, {3, 5, 7}) + mux(x % 2, {x, -x, x * 2}) + mux(x, Tuple(1, 2, 3));
    Buffer<int> ho = h.realize({4});
    EXPECT(ho(1) == 5 - 1 + 2 && ho(3) == 7 - 3 + 3);
    Func t;
    t(x) = select(x < 2, Tuple(x, 1.0f), Tuple(-x, 2.0f));
    t(x) = select(Tuple(x < 1, x < 3), Tuple(x, 1.0f), t(x));
    t(x) = select(x == 0, Tuple(9, 9.0f), x == 1, Tuple(8, 8.0f), t(x));
    t(x) = mux(x, {Tuple(1, 1.0f), Tuple(2, 2.0f), t(x)});
    Realization r = t.realize({5});
    Buffer<int> t0 = r[0];
    Buffer<float> t1 = r[1];
    EXPECT(t0(0) == 1 && t0(1) == 2 && t0(3) == -3 && t1(4) == 2.0f && t1(2) == 1.0f);
    Func b;
    b(x) = select(cast<bool>(x % 2), cast<bool>(1), cast<bool>(0)) && !(x == 3) || x > 10;
    Buffer<bool> bo = b.realize({14});
    EXPECT(bo(1) && !bo(3) && bo(12) && !bo(2));
    Func n;
    n(x) = select(!is_nan(sqrt(cast<float>(x - 2))), 1, 0) +
           select(strict_float(cast<float>(x)) > 1.5f, 10, 20);
    Buffer<int> no = n.realize({4});
    EXPECT(no(0) == 20 && no(3) == 11);
    return 0;
}
PROGRAM(pyramid_of_levels) {
    const int J = 4;
    Var x("x"), y("y"), c("c"), k("k");
    Buffer<float> in(64, 48);
    in.fill([](int x, int y) { return (float)((x * y) % 17); });
    Func clamped = BoundaryConditions::repeat_edge(in);
    auto down = [&](Func f) {
        Func dx, dy;
        dx(x, y, _) = (f(2 * x - 1, y, _) + 3.0f * (f(2 * x, y, _) + f(2 * x + 1, y, _)) +
                       f(2 * x + 2, y, _)) /
                      8.0f;
        dy(x, y, _) = (dx(x, 2 * y - 1, _) + 3.0f * (dx(x, 2 * y, _) + dx(x, 2 * y + 1, _)) +
                       dx(x, 2 * y + 2, _)) /
                      8.0f;
        return dy;
    };
    auto up = [&](Func f) {
        Func ux, uy;
        ux(x, y, _) = lerp(f((x + 1) / 2, y, _), f((x - 1) / 2, y, _), ((x % 2) * 2 + 1) / 4.0f);
        uy(x, y, _) = lerp(ux(x, (y + 1) / 2, _), ux(x, (y - 1) / 2, _), ((y % 2) * 2 + 1) / 4.0f);
        return uy;
    };
    Func g[J], l[J];
    g[0](x, y, k) = clamped(x, y) * (k + 1);
    for (int j = 1; j < J; j++) g[j](x, y, k) = down(g[j - 1])(x, y, k);
    l[J - 1](x, y, k) = g[J - 1](x, y, k);
    for (int j = J - 2; j >= 0; j--)
        l[j](x, y, k) = g[j](x, y, k) - up(g[j + 1])(x, y, k) + up(l[j + 1])(x, y, k);
    Func out;
    out(x, y) = l[0](x, y, 0) + l[0](x, y, 1);
    for (int j = 0; j < J; j++) {
        g[j].compute_root().vectorize(x, 8, TailStrategy::GuardWithIf).parallel(k);
        l[j].compute_root().parallel(y, 4).vectorize(x, 8);
    }
    out.parallel(y, 8).vectorize(x, 8);
    Buffer<float> o = out.realize({64, 48});
    EXPECT(fabs(o(20, 20) - 3 * in(20, 20)) < 1e-3);
    return 0;
}
PROGRAM(chunks_and_reorders) {
    Var x("x"), y("y"), xo, xi, yo, yi, t, a, b;
    for (int s = 0; s < 10; s++) {
        Func f("f"), g("g"), h("h");
        f(x, y) = x * y;
        g(x, y) = f(x - 1, y) + f(x + 1, y);
        h(x, y) = g(x, y - 1) + g(x, y + 1) + f(x, y);
        if (s == 0) {
            f.compute_at(h, y);
            g.compute_at(h, y);
        }
        if (s == 1) {
            h.tile(x, y, xo, yo, xi, yi, 8, 8);
            f.compute_at(h, xo);
            g.compute_at(h, yi);
        }
        if (s == 2) {
            h.split(x, xo, xi, 6).reorder(xi, y, xo).parallel(xo);
            f.compute_at(h, xo).vectorize(x, 4);
            g.compute_at(h, xo).unroll(y, 2);
        }
        if (s == 3) {
            h.fuse(x, y, t).parallel(t, 10);
            f.compute_root();
        }
        if (s == 4) {
            h.tile(x, y, xo, yo, xi, yi, 4, 4).fuse(xo, yo, t).parallel(t);
            g.compute_at(h, t);
            f.compute_at(h, t);
        }
        if (s == 5) {
            h.vectorize(x, 8).unroll(y, 2);
            g.store_root().compute_at(h, y).vectorize(x, 8);
            f.store_root().compute_at(h, y);
        }
        if (s == 6) {
            h.split(y, yo, yi, 8).parallel(yo);
            g.store_at(h, yo).compute_at(h, yi).vectorize(x, 8);
            f.store_at(h, yo).compute_at(h, yi);
        }
        if (s == 7) {
            h.split(x, xo, xi, 7, TailStrategy::GuardWithIf)
                .split(xi, a, b, 3, TailStrategy::GuardWithIf)
                .vectorize(b)
                .reorder(b, y, a, xo);
        }
        if (s == 8) {
            h.rename(x, t).split(t, a, b, 4).unroll(b);
            f.compute_root().reorder(y, x).vectorize(y, 4);
            g.compute_at(h, Var::outermost());
        }
        if (s == 9) {
            h.tile(x, y, xi, yi, 8, 4, TailStrategy::ShiftInwards).vectorize(xi).vectorize(yi);
            g.compute_at(h, x);
            f.compute_at(h, x);
        }
        Buffer<int> o = h.realize({30, 22});
        for (int j = 0; j < 22; j++)
            for (int i = 0; i < 30; i++) EXPECT(o(i, j) == 4 * i * j + i * j);
    }
    return 0;
}
PROGRAM(rescheduled) {
    Func in("in"), out("out");
    Var x("x"), y("y");
    in(x, y) = x + y;
    out(x, y) = sqrt(cast<float>(in(x, y))) + sqrt(cast<float>(in(x, y + 1)));
    Buffer<float> a = out.realize({100, 100});
    Var xo, yo, xi, yi;
    out.tile(x, y, xo, yo, xi, yi, 25, 25);
    in.compute_at(out, yi);
    Buffer<float> b = out.realize({100, 100});
    in.store_root().vectorize(x, 4);
    Buffer<float> c = out.realize({100, 100});
    RDom r(a);
    EXPECT(evaluate<float>(maximum(abs(a(r.x, r.y) - b(r.x, r.y)))) < 1e-5f &&
           evaluate<float>(sum(abs(a(r.x, r.y) - c(r.x, r.y)))) < 1e-2f);
    return 0;
}
PROGRAM(games_and_interpreters) {
    // The game of life, one Func per generation.
    Var x, y;
    Buffer<uint8_t> board(16, 16);
    board.fill(0);
    board(5, 4) = board(5, 5) = board(5, 6) = 1;
    Func cur = BoundaryConditions::repeat_image(board);
    for (int i = 0; i < 4; i++) {
        Func n;
        RDom r(-1, 3, -1, 3);
        Expr alive = sum(cur(x + r.x, y + r.y)) - cur(x, y);
        n(x, y) = select(alive == 3 || (alive == 2 && cur(x, y) != 0), u8(1), u8(0));
        cur.compute_root();
        cur = n;
    }
    Buffer<uint8_t> o = cur.realize({16, 16});
    EXPECT(o(5, 4) == 1 && o(5, 5) == 1 && o(4, 5) == 0);
    // A machine whose state is a Func.
    Func state;
    RDom t(0, 20);
    state(x, y) = 0;
    state(0, 0) = 1;
    state(0, t + 1) = select(state(0, t) % 2 == 0, state(0, t) / 2, 3 * state(0, t) + 1);
    Buffer<int> s = state.realize({1, 21});
    EXPECT(s(0, 1) == 4 && s(0, 3) == 1);
    // Newton's method, and a loop that ends early.
    Func inv;
    Param<float> v;
    RDom q(0, 30);
    inv() = Tuple(1.0f, 100.0f);
    Expr now = inv()[0], last = inv()[1];
    q.where(abs(now - last) > 1e-6f);
    inv() = Tuple(0.5f * (now + v / now) + 0 * q, now);
    v.set(9.0f);
    Realization re = inv.realize();
    Buffer<float> root = re[0];
    EXPECT(fabs(root() - 3) < 1e-5);
    return 0;
}
PROGRAM(rdom_forms) {
    Var x, y;
    Buffer<int> im(10, 8);
    im.set_min(2, 3);
    im.fill(1);
    ImageParam ip(Int(32), 2);
    ip.set(im);
    RDom a(im), b(ip), c(0, 5, "named"), d(0, 2, 0, 3, 0, 4), e({{0, 2}, {1, 3}}),
        f(0, 2, 0, 2, 0, 2, 0, 2, 0, 2), g(Region{{0, 3}});
    EXPECT(a.dimensions() == 2 && d.dimensions() == 3 && f.dimensions() == 5 &&
           e.dimensions() == 2 && a.defined() && !RDom().defined());
    EXPECT(evaluate<int>(sum(im(a.x, a.y))) == 80 && evaluate<int>(sum(ip(b.x, b.y))) == 80);
    EXPECT(evaluate<int>(sum(d.x + d[1] * d.z + 0 * d[2])) ==
           12 + (0 + 1 + 2) * (0 + 1 + 2 + 3) * 2);
    EXPECT(evaluate<int>(sum(f.x + f.y + f.z + f.w + f[4])) == 80);
    RVar rx = a.x;
    RVar ry(a[1]);
    EXPECT(rx.name() == a.x.name() && a.x.min().defined() && a.x.extent().defined());
    EXPECT(a.same_as(a) && !a.same_as(b));
    Func h;
    h(x) = 0;
    h(c) += c;
    Expr ec = c;
    h(c) += ec + c.x;
    Buffer<int> o = h.realize({5});
    EXPECT(o(3) == 9);
    Func m;
    Param<int> n;
    n.set(4);
    RDom p(n - 3, n * 2);
    m() = 0;
    m() += p;
    Buffer<int> mo = m.realize();
    EXPECT(mo() == 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
    RDom l(0, clamp(n, 0, 10));
    l.where(l != 2);
    EXPECT(evaluate<int>(sum(l * 1)) == 4);
    Func im2;
    im2(x, y) = x + y;
    im2.compute_root();
    Func u;
    RDom q(0, 3, 0, 3);
    u(x, y) = 0;
    u(q.x, q.y) += im2(q.y, q.x) + u(q.x, q.y);
    u(x, q.x) += q.y;
    Buffer<int> uo = u.realize({3, 3});
    EXPECT(uo(1, 2) == 3 + 3);
    return 0;
}
PROGRAM(inline_reductions_all) {
    Var x, y;
    Func f;
    f(x, y) = x * y + 1;
    f.compute_root();
    RDom r(0, 4, 0, 3);
    Func s("s"), p, mx, mn, am, an, ss;
    Func out;
    out(x) = sum(f(x + r.x, r.y), s) + product(cast<int>(r.x * 0 + r.y * 0 + 1), p) +
             maximum(f(x, r.x + r.y), mx) + minimum(r, f(x + r.x, r.y), mn) +
             argmax(f(r.x, r.y), am)[0] + argmin(r, f(r.x, x), an)[2] +
             cast<int>(saturating_sum(cast<uint8_t>(f(r.x, r.y)), ss));
    s.compute_at(out, x).update().unroll(r.x);
    mx.compute_root();
    Buffer<int> o = out.realize({4});
    EXPECT(o.width() == 4);
    Func g;
    RDom r2(0, 3), r3(0, 2);
    g(x) = sum(sum(r3, x + r3 + r2));
    Buffer<int> go = g.realize({3});
    EXPECT(go(1) == 6 * 1 + 3 * 1 + 2 * 3);
    return 0;
}

extern "C" {
HALIDE_EXPORT_SYMBOL std::list<int> *wl_create(int) { return new std::list<int>(); }
HALIDE_EXPORT_SYMBOL std::list<int> *wl_insert(std::list<int> *list, bool insert, int value) {
    if (insert) list->push_back(value);
    return list;
}
HALIDE_EXPORT_SYMBOL void wl_nothing(int) {}
HALIDE_EXPORT_SYMBOL double wl_many(int a, float b, double c, uint8_t d, int16_t e, uint64_t f,
                                    bool g) {
    return a + b + c + d + e + f + g;
}
HALIDE_EXPORT_SYMBOL float wl_zero_args() { return 4.5f; }
}
HALIDE_DECLARE_EXTERN_CLASS_TYPE(std::list<int>);
HalideExtern_1(std::list<int> *, wl_create, int);
HalideExtern_3(std::list<int> *, wl_insert, std::list<int> *, bool, int);
HalidePureExtern_7(double, wl_many, int, float, double, uint8_t, int16_t, uint64_t, bool);

PROGRAM(lists_in_buffers) {
    Func factors;
    RDom r(2, 18);
    Var x;
    factors(x) = wl_create(x);
    factors(x) = wl_insert(factors(x), x % r == 0, cast<int>(r));
    Buffer<std::list<int> *> result = factors.realize({20});
    EXPECT(result(12)->size() == 5 && result(13)->size() == 1);
    for (int i = 0; i < 20; i++) delete result(i);
    Func g;
    g(x) = wl_many(x, 1.5f, cast<double>(x), cast<uint8_t>(x), cast<int16_t>(-x), cast<uint64_t>(3),
                   x > 2);
    Buffer<double> o = g.realize({4});
    EXPECT(o(3) == 3 + 1.5 + 3 + 3 - 3 + 3 + 1);
    return 0;
}
PROGRAM(expressions_of_image_properties) {
    ImageParam im(Float(32), 3, "wim");
    Var x, y, c;
    Func f, g;
    f(x) = im.dim(0).extent() * x + im.width() - im.height() * 2 + im.channels() +
           im.dim(1).stride() + im.left() + im.right() + im.top() + im.bottom();
    im.set(Buffer<float>(10, 20, 3));
    Buffer<int> o = f.realize({3});
    EXPECT(o(1) == 10 + 10 - 40 + 3 + 10 + 0 + 9 + 0 + 19);
    RDom q(0, 3);
    g(x, y) = sum(q, im(x, y, q));
    g.realize({3, 3});
    return 0;
}
PROGRAM(schedules_by_lists) {
    Var x("x"), y("y"), z("z"), xo("xo"), yo("yo"), zo("zo"), xi("xi"), yi("yi"), zi("zi");
    Func f;
    f(x, y, z) = x + y + z;
    f.tile({x, y, z}, {xo, yo, zo}, {xi, yi, zi}, {4, 4, 2},
           {TailStrategy::GuardWithIf, TailStrategy::RoundUp, TailStrategy::ShiftInwards});
    std::vector<VarOrRVar> order = {xi, yi, zi, xo, yo, zo};
    f.reorder(order).parallel(zo).vectorize(xi).unroll(yi);
    f.bound(z, 0, 6);
    f.set_estimates({{0, 16}, {0, 16}, {0, 6}}).set_estimate(x, 0, 16);
    Buffer<int> o = f.realize({16, 16, 6});
    EXPECT(o(3, 4, 5) == 12);
    Func g;
    RDom r(0, 4, 0, 4);
    RVar rxo("rxo"), rxi("rxi"), rf("rf");
    g(x, y) = 0;
    g(x, y) += r.x * r.y + x;
    Stage s = g.update();
    s.tile(r.x, r.y, rxo, RVar("ryo"), rxi, RVar("ryi"), 2, 2).reorder(x, rxi).unroll(rxi);
    s.split(x, xo, xi, 4).vectorize(xi).parallel(y);
    g.update(0).rename(xo, zo);
    EXPECT(s.name().size() > 0);
    Buffer<int> go = g.realize({8, 8});
    EXPECT(go(2, 2) == 36 + 32);
    Func h;
    h(x, y) = x;
    return 0;
}

#include "../program.h"

// ---- Tuples, undef, updates ----
PROGRAM(tuple_everything) {
    Var x, y;
    {
        Func f, g;
        f(x, y) = {x, sin(x) + y};
        f(x, y) = {f(x, y)[0] + 1, f(x, y)[1] * 2};
        f(x, y)[1] += 3.0f;
        g(x, y) = f(x, y)[0] + cast<int>(f(x, y)[1]);
        Realization r = f.realize({5, 5});
        Buffer<int> a = r[0];
        Buffer<float> b = r[1];
        EXPECT(r.size() == 2 && a(2, 3) == 3);
        EXPECT(fabs(b(2, 3) - ((sinf(2) + 3) * 2 + 3)) < 1e-4f);
        g.realize({2, 2});
    }
    {
        Func f;
        f(x) = Tuple(x, 2 * x, cast<uint8_t>(x));
        Buffer<int> a(10), b(10);
        Buffer<uint8_t> c(10);
        f.realize({a, b, c});
        EXPECT(a(3) == 3 && b(3) == 6 && c(3) == 3);
        Realization r(a, b, c);
        f.realize(r);
        Realization r2({a, b, c});
        f.realize(r2);
        std::vector<Buffer<>> bufs = {a, b, c};
        Realization r3(bufs);
        f.realize(r3);
    }
    {
        Func f("f"), g("g");
        RDom r(0, 10);
        f() = Tuple(0, 0);
        f() = Tuple(f()[0] + r.x, f()[1] + 2 * r.x);
        f() += Tuple(1, 2);
        Realization re = f.realize();
        Buffer<int> a = re[0], b = re[1];
        EXPECT(a() == 46 && b() == 92);
    }
    {
        Func f;
        Tuple t(Expr(1), Expr(2.0f));
        t[0] = t[0] + 1;
        f(x) = t;
        EXPECT(f.outputs() == 2 && f.types()[0] == Int(32) && f.types()[1] == Float(32));
        EXPECT(f.values().size() == 2);
        const std::vector<Expr> &v = t.as_vector();
        EXPECT(v.size() == 2);
    }
    {
        Func f, g;
        f(x) = Tuple(x, x * x);
        g(x) = Tuple(f(x));
        g(x) = f(x);
        Func h;
        h(x) = f(x + 1);
        Realization r = h.realize({4});
        Buffer<int> q = r[1];
        EXPECT(q(2) == 9);
    }
    return 0;
}
PROGRAM(tuple_reductions) {
    Var x("x"), y("y");
    for (int i = 0; i < 3; i++) {
        Func f("f");
        f(x, y) = Tuple(x + y, x - y);
        RDom r(0, 16, 0, 16);
        f(r.x, r.y) = Tuple(f(r.x, r.y)[1] + 2, f(r.x, r.y)[0] - 1);
        f(r.x, r.y) += Tuple(1, -1);
        if (i == 1) f.update(0).vectorize(r.x, 4);
        if (i == 2) f.update(0).unroll(r.x, 2).parallel(r.y);
        Realization re = f.realize({16, 16});
        Buffer<int> a = re[0], b = re[1];
        for (int yy = 0; yy < 16; yy++)
            for (int xx = 0; xx < 16; xx++) {
                EXPECT(a(xx, yy) == xx - yy + 2 + 1);
                EXPECT(b(xx, yy) == xx + yy - 1 - 1);
            }
    }
    return 0;
}
PROGRAM(undef_tuples) {
    Var x;
    Func f;
    f(x) = Tuple(undef<int32_t>(), undef<int32_t>());
    RDom r(0, 10);
    f(r) = Tuple(r.x, undef<int32_t>());
    f(r) = Tuple(undef<int32_t>(), r.x * 2);
    Realization re = f.realize({10});
    Buffer<int> a = re[0], b = re[1];
    EXPECT(a(4) == 4 && b(4) == 8);
    Func g;
    g(x) = undef<float>();
    g(r) = select(r.x % 2 == 0, cast<float>(r.x), undef<float>());
    Buffer<float> out(10);
    out.fill(-1.0f);
    g.realize(out);
    EXPECT(out(4) == 4.0f && out(5) == -1.0f);
    return 0;
}
PROGRAM(implicit_args) {
    Var x("x"), y("y");
    Func f, g, h, k;
    f(x, y) = x * 10 + y;
    g(x, _) = f(x, _) + 1;
    h(_) = g(_) * 2;
    k(_0, _1) = h(_0, _1);
    Buffer<int> out = k.realize({3, 3});
    EXPECT(out(2, 1) == 44);
    Func l;
    l(_) = f(_) + h(_);
    l(_) += 1;
    l(_) *= 2;
    Buffer<int> o2 = l.realize({3, 3});
    EXPECT(o2(2, 1) == (21 + 44 + 1) * 2);
    Buffer<int> im(4, 4);
    im.fill(3);
    Func m;
    m(x, _) = im(x, _) + im(_);
    EXPECT(m.dimensions() == 3);
    Func n;
    n(_) = im(_) + 1;
    EXPECT(n.dimensions() == 2);
    Func s;
    s() = 3;
    Func s2;
    s2(_) = s(_) + 1;
    Buffer<int> sc = s2.realize();
    EXPECT(sc() == 4);
    EXPECT(Var::is_implicit("_3") || Var::is_implicit(_3));
    return 0;
}
PROGRAM(update_forms) {
    Var x("x"), y("y");
    Func f;
    RDom r(1, 9);
    f(x, y) = x + y;
    f(x, 0) = 10 * x;
    f(0, y) += 5;
    f(r, y) = f(r - 1, y) + f(r, y);
    f(x, r) -= f(x, r - 1);
    f(x, y) = -f(x, y);
    EXPECT(f.num_update_definitions() == 5 && f.has_update_definition());
    EXPECT(f.update_args(0).size() == 2 && f.update_value(0).defined());
    EXPECT(f.rvars(2).size() == 1 && f.rvars(2)[0].name() == r.x.name());
    EXPECT(f.args()[0].name() == "x");
    f.update(0).unscheduled();
    f.update(2).vectorize(y, 4);
    f.update(4).parallel(y).vectorize(x, 4);
    Buffer<int> out = f.realize({10, 10});
    int ref[10][10];
    for (int j = 0; j < 10; j++)
        for (int i = 0; i < 10; i++) ref[j][i] = i + j;
    for (int i = 0; i < 10; i++) ref[0][i] = 10 * i;
    for (int j = 0; j < 10; j++) ref[j][0] += 5;
    for (int k = 1; k < 10; k++)
        for (int j = 0; j < 10; j++) ref[j][k] = ref[j][k - 1] + ref[j][k];
    for (int k = 1; k < 10; k++)
        for (int i = 0; i < 10; i++) ref[k][i] -= ref[k - 1][i];
    for (int j = 0; j < 10; j++)
        for (int i = 0; i < 10; i++) EXPECT(out(i, j) == -ref[j][i]);
    return 0;
}
PROGRAM(histogram_schedules) {
    Buffer<uint8_t> in(128, 64);
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 128; x++) in(x, y) = (x * 31 + y * 17) & 255;
    int ref[256] = {0};
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 128; x++) ref[in(x, y)]++;
    for (int s = 0; s < 5; s++) {
        Func hist("hist"), g("g");
        Var x("x");
        RDom r(in);
        hist(x) = 0;
        hist(clamp(cast<int32_t>(in(r.x, r.y)), 0, 255)) += 1;
        switch (s) {
        case 0: hist.compute_root(); break;
        case 1: hist.compute_root().vectorize(x, 8).update().atomic().parallel(r.y); break;
        case 2:
            hist.update().allow_race_conditions();
            hist.compute_root();
            break;
        case 3: {
            Var u("u");
            Func inter = hist.update().rfactor(r.y, u);
            inter.compute_root().update().parallel(u);
            break;
        }
        case 4: hist.update().atomic().vectorize(r.x, 4); break;
        }
        g(x) = hist(x + 10);
        Buffer<int> out = g.realize({246});
        for (int i = 0; i < 246; i++) EXPECT(out(i) == ref[i + 10]);
    }
    return 0;
}
template<typename T>
static int w_atomic_hist() {
    int n = 1000;
    Buffer<uint8_t> im(n);
    int ref[30] = {0};
    for (int i = 0; i < n; i++) {
        im(i) = (i * 7) % 30;
        ref[im(i)]++;
    }
    for (int parallel = 0; parallel < 2; parallel++) {
        Func hist;
        Var x;
        RDom r(0, n);
        hist(x) = cast<T>(0);
        hist(im(r)) += cast<T>(1);
        hist.compute_root();
        RVar ro, ri;
        if (parallel)
            hist.update().atomic().split(r, ro, ri, 10).parallel(ro);
        else
            hist.update().atomic().split(r, ro, ri, 16).vectorize(ri);
        Buffer<T> out = hist.realize({30});
        for (int i = 0; i < 30; i++)
            if ((int)(float)out(i) != ref[i]) {
                printf("%d: %d != %d\n", i, (int)(float)out(i), ref[i]);
                return 1;
            }
    }
    return 0;
}
PROGRAM(atomics_of_types) {
    EXPECT(w_atomic_hist<uint8_t>() == 0);
    EXPECT(w_atomic_hist<int8_t>() == 0);
    EXPECT(w_atomic_hist<uint16_t>() == 0);
    EXPECT(w_atomic_hist<int16_t>() == 0);
    EXPECT(w_atomic_hist<uint32_t>() == 0);
    EXPECT(w_atomic_hist<int32_t>() == 0);
    EXPECT(w_atomic_hist<uint64_t>() == 0);
    EXPECT(w_atomic_hist<int64_t>() == 0);
    EXPECT(w_atomic_hist<float>() == 0);
    EXPECT(w_atomic_hist<double>() == 0);
    EXPECT(w_atomic_hist<float16_t>() == 0);
    EXPECT(w_atomic_hist<bfloat16_t>() == 0);
    return 0;
}
PROGRAM(atomic_tuples_and_nests) {
    Buffer<int> im(100);
    for (int i = 0; i < 100; i++) im(i) = i % 10;
    {
        Func hist;
        Var x;
        RDom r(0, 100);
        hist(x) = Tuple(0, 0);
        hist(clamp(im(r), 0, 9)) += Tuple(1, 2);
        hist.compute_root();
        hist.update().atomic().parallel(r);
        Realization re = hist.realize({10});
        Buffer<int> a = re[0], b = re[1];
        for (int i = 0; i < 10; i++) EXPECT(a(i) == 10 && b(i) == 20);
    }
    {
        Func hist;
        Var x;
        RDom r(0, 100);
        hist(x) = Tuple(0, 0);
        Expr at = clamp(im(r), 0, 9);
        hist(at) = Tuple(hist(at)[1] + 1, hist(at)[0] + 2);
        hist.compute_root();
        hist.update().atomic(true).parallel(r);
        hist.realize({10});
    }
    {
        Func f, g;
        Var x;
        RDom r(0, 100);
        g(x) = im(x) * 2;
        f(x) = 0;
        f(clamp(im(r), 0, 9)) += g(r);
        RVar ro, ri;
        f.compute_root().update().atomic().split(r, ro, ri, 8).parallel(ro);
        g.compute_at(f, ro);
        Buffer<int> out = f.realize({10});
        for (int i = 0; i < 10; i++) EXPECT(out(i) == 10 * i * 2);
    }
    {
        Func f;
        Var x;
        RDom r(0, 100);
        f() = 0;
        f() = max(f(), im(r));
        f.update().atomic().vectorize(r, 4);
        Buffer<int> out = f.realize();
        EXPECT(out() == 9);
        Func m;
        m() = 0;
        m() += im(r) * im(r);
        m.update().atomic().vectorize(r, 20).parallel(r);
        Buffer<int> o2 = m.realize();
        EXPECT(o2() == 2850);
    }
    return 0;
}
// ---- Scatter and gather, predicates ----
PROGRAM(scatter_gather) {
    Func f;
    Var x, y;
    f(x, y) = x + 100 * y;
    RDom r(0, 5);
    f(scatter(r, 9 - r), 3) = gather(f(9 - r, 3), f(r, 3));
    Buffer<int> out = f.realize({10, 5});
    for (int i = 0; i < 10; i++) EXPECT(out(i, 3) == 300 + 9 - i && out(i, 2) == 200 + i);
    Func g;
    g(x) = 0;
    g(scatter(1, 3, 5)) = gather(10, 30, 50);
    Buffer<int> o = g.realize({6});
    EXPECT(o(3) == 30 && o(5) == 50 && o(0) == 0);
    Func h;
    h(x) = Tuple(x, -x);
    RDom q(0, 3);
    h(scatter(q, q + 3)) = Tuple(gather(h(q + 3)[0], h(q)[0]), gather(5, 6));
    Realization re = h.realize({6});
    Buffer<int> a = re[0], b = re[1];
    EXPECT(a(0) == 3 && a(3) == 0 && b(1) == 5 && b(4) == 6);
    return 0;
}
PROGRAM(predicates_of_all_kinds) {
    Var x, y;
    {
        Func f;
        RDom r(0, 100, 0, 100);
        r.where(r.x + r.y < 100);
        r.where(r.x % 2 == 0);
        f(x, y) = 10;
        f(r.x, r.y) += r.x + r.y;
        f.update().vectorize(r.x, 8).parallel(r.y);
        Buffer<int> out = f.realize({100, 100});
        for (int j = 0; j < 100; j++)
            for (int i = 0; i < 100; i++)
                EXPECT(out(i, j) == 10 + ((i + j < 100 && i % 2 == 0) ? i + j : 0));
    }
    {
        Func f, g;
        Param<int> p;
        f(x) = x * 3;
        f.compute_root();
        RDom r(-10, 30);
        r.where(f(r) > p && r < 15);
        g(x) = 0;
        g(0) += r;
        p.set(9);
        Buffer<int> out = g.realize({1});
        int want = 0;
        for (int i = -10; i < 20; i++)
            if (3 * i > 9 && i < 15) want += i;
        EXPECT(out(0) == want);
    }
    {
        // Triangle, by a domain that depends on itself.
        RDom r(0, 10, 0, 10);
        r.where(r.y <= r.x);
        Func f;
        f() = 0;
        f() += 1;
        f() += select(r.x > 100, 0, r.x * 0 + 1);
        Buffer<int> out = f.realize();
        EXPECT(out() == 1 + 55);
    }
    return 0;
}
// ---- Boundaries ----
PROGRAM(boundary_forms) {
    using namespace Halide::BoundaryConditions;
    Buffer<int> in(8, 6);
    in.fill([](int x, int y) { return 10 * y + x; });
    Func input_f;
    Var x("x"), y("y");
    input_f(x, y) = in(x, y);
    ImageParam ip(Int(32), 2);
    ip.set(in);
    std::vector<Func> edge = {
        repeat_edge(in), repeat_edge(ip), repeat_edge(input_f, {{0, 8}, {0, 6}}),
        repeat_edge(in, {{0, 8}, {0, 6}}), repeat_edge(lambda(x, y, in(x, y)), 0, 8, 0, 6)};
    for (Func f : edge) {
        Buffer<int> out(20, 16);
        out.set_min(-6, -5);
        f.realize(out);
        out.for_each_element([&](int x, int y) {
            if (out(x, y) != in(std::clamp(x, 0, 7), std::clamp(y, 0, 5))) {
                printf("bad\n");
                exit(1);
            }
        });
    }
    Func f1 = repeat_edge(in, {{Expr(), Expr()}, {0, 6}});
    Buffer<int> out(8, 12);
    out.set_min(0, -3);
    f1.realize(out);
    EXPECT(out(2, -3) == 2 && out(2, 8) == 52);
    Func c1 = constant_exterior(in, 77), c2 = constant_exterior(input_f, 77, {{0, 8}, {0, 6}}),
         c3 = constant_exterior(ip, Tuple({77})), c4 = constant_exterior(in, 77, 0, 8, 0, 6);
    for (Func f : {c1, c2, c3, c4}) {
        Buffer<int> o(12, 10);
        o.set_min(-2, -2);
        f.vectorize(f.args()[0], 4);
        f.realize(o);
        EXPECT(o(-1, 0) == 77 && o(3, 2) == 23 && o(8, 0) == 77 && o(0, 6) == 77);
    }
    Func t;
    t(x, y) = Tuple(in(x, y), cast<float>(in(x, y)));
    Func tc = constant_exterior(t, Tuple(1, 2.5f), {{0, 8}, {0, 6}});
    Realization r = tc.realize({10, 6});
    Buffer<int> r0 = r[0];
    Buffer<float> r1 = r[1];
    EXPECT(r0(9, 0) == 1 && r1(9, 0) == 2.5f && r1(3, 1) == 13.0f);
    Func te = mirror_interior(t, {{0, 8}, {0, 6}}), ti = repeat_image(t, {{0, 8}, {0, 6}}),
         tm = mirror_image(t, {{0, 8}, {0, 6}});
    Realization q = te.realize({10, 6});
    Buffer<int> q0 = q[0];
    EXPECT(q0(9, 0) == 5);
    q0 = ti.realize({10, 6})[0];
    EXPECT(q0(9, 0) == 1);
    q0 = tm.realize({10, 6})[0];
    EXPECT(q0(9, 0) == 6);
    return 0;
}
PROGRAM(reduction_loops_that_may_be_reordered) {
    // Columns have nothing to do with one another, whatever is done in each.
    const int w = 13, h = 9;
    Buffer<int> in(w, h);
    in.fill([](int x, int y) { return (x * 5 + y * 3) % 7; });
    Func f;
    Var x, y;
    RDom r(0, w, 1, h - 1);
    RVar xo, xi;
    f(x, y) = in(x, y);
    f(r.x, r.y) = f(r.x, r.y - 1) * 2 - f(r.x, r.y);
    f.update().reorder(r.y, r.x);
    Func g;
    g(x) = 1;
    g(r.x) = g(r.x) * 3 + in(r.x, r.y);
    g.update().split(r.x, xo, xi, 4).reorder(r.y, xi, xo).parallel(xo);
    Buffer<int> scan = f.realize({w, h}), digits = g.realize({w});
    for (int i = 0; i < w; i++) {
        int value = in(i, 0), number = 1;
        for (int j = 1; j < h; j++) {
            value = value * 2 - in(i, j);
            number = number * 3 + in(i, j);
            EXPECT(scan(i, j) == value);
        }
        EXPECT(digits(i) == number);
    }
    return 0;
}

PROGRAM(blends_in_slices_shorter_than_their_vectors) {
    for (TailStrategy tail : {TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend}) {
        Var i("i"), slice("slice"), in("in");
        Func sums("sums"), out("out");
        sums(i) = 2 * i;
        sums(i) += 5;
        out(i) = sums(i);
        sums.compute_root();
        sums.update().split(i, slice, in, 6, TailStrategy::GuardWithIf).vectorize(in, 8, tail);
        Buffer<int> b = out.realize({100});
        for (int j = 0; j < 100; j++) EXPECT(b(j) == 2 * j + 5);
    }
    return 0;
}

PROGRAM(undef_within_operations) {
    Var i("i");
    Func f("f"), g("g"), used("used");
    f(i) = 3 * i;
    f(i) += select(i % 2 == 1, 100, undef<int>());
    Buffer<int> a = f.realize({6});
    EXPECT(a(0) == 0 && a(1) == 103 && a(2) == 6 && a(5) == 115);
    g(i) = select(i >= 2, 7 * i, undef<int>());
    used(i) = 1000 - g(i + 1);
    Buffer<int> b(4);
    b.fill(-5);
    used.realize(b);
    EXPECT(b(0) == -5 && b(1) == 986 && b(3) == 972);
    return 0;
}

PROGRAM(requirement_in_a_loop_that_is_split) {
    Var i("i");
    Param<int> n("n"), m("m");
    Func f("f");
    f(i) = select(likely(i < require(n <= m, n)), i, -i);
    static int failures;
    failures = 0;
    f.jit_handlers().custom_error = [](JITUserContext *, const char *) { failures++; };
    n.set(20);
    m.set(11);
    f.realize({5});
    EXPECT(failures == 1);
    m.set(30);
    f.realize({5});
    EXPECT(failures == 1);
    return 0;
}

PROGRAM(bounded_storage_of_updates_that_are_computed_inline) {
    Var i("i");
    Param<int> gap("gap");
    Func bins("bins"), pairs("pairs");
    bins(i) = 2 * i;
    bins(i) -= 1;
    pairs(i) = bins(i) * bins(i + gap);
    bins.bound_storage(i, 16);
    static int failures;
    failures = 0;
    pairs.jit_handlers().custom_error = [](JITUserContext *, const char *) { failures++; };
    gap.set(9);
    Buffer<int> b = pairs.realize({4});
    EXPECT(failures == 0 && b(2) == 3 * 21);
    gap.set(300);
    pairs.realize({20});
    EXPECT(failures == 1);
    return 0;
}

PROGRAM(iterations_that_share_nothing) {
    Var u("u"), v("v");
    RDom r(1, 30);
    for (bool vectorized : {false, true}) {
        Func table("table");
        table(u, v) = 10 * u + v;
        table(r, 2) += table(r - 1, 5);
        if (vectorized) table.update().vectorize(r, 8);
        if (!vectorized) table.update().parallel(r, 4);
        Buffer<int> b = table.realize({31, 6});
        EXPECT(b(10, 2) == 102 + 95 && b(10, 5) == 105);
    }
    return 0;
}
PROGRAM(tuple_of_undef_under_one_condition) {
    Func f("f");
    Var x("x");
    f(x) = Tuple(x, x);
    f(x) = Tuple(select(x < 5, undef<int>(), 1), select(x < 5, undef<int>(), 2));
    Realization result = f.realize({10});
    Buffer<int> first = result[0], second = result[1];
    EXPECT(first(4) == 4 && second(4) == 4 && first(5) == 1 && second(5) == 2);
    return 0;
}

#include "../program.h"

PROGRAM(gradient) {
    Var x("x"), y("y");
    Func gradient("gradient");
    gradient(x, y) = x + y;
    Buffer<int> out = gradient.realize({8, 6});
    for (int j = 0; j < out.height(); j++) {
        for (int i = 0; i < out.width(); i++) EXPECT(out(i, j) == i + j);
    }
    return 0;
}

PROGRAM(names_and_introspection) {
    Var x("x"), y("y");
    RDom r(0, 5, "r");
    Func f("f");
    EXPECT(!f.defined());
    f(x, y) = cast<float>(x);
    f(x, r) += 2.0f * r;
    EXPECT(f.defined() && f.name() == "f" && f.dimensions() == 2 && f.outputs() == 1);
    EXPECT(f.args().size() == 2 && f.args()[0].name() == "x" && f.args()[1].same_as(y));
    EXPECT(f.type() == Float(32) && f.types().size() == 1);
    EXPECT(f.has_update_definition() && f.num_update_definitions() == 1);
    EXPECT(f.update_args(0).size() == 2 && f.rvars(0).size() == 1);
    EXPECT(f.value().type() == Float(32) && f.update_value().type() == Float(32));
    EXPECT(!f.is_extern());
    EXPECT(f.values().size() == 1);
    EXPECT(x.name() == "x" && !Var().name().empty());
    return 0;
}

PROGRAM(implicit_dimensions) {
    Var x("x");
    Func f, g, h;
    f(x, _) = x + _0 * 10 + _1 * 100;
    EXPECT(f.dimensions() == 3);
    g(_) = f(_) + 1;
    h(_) = g(1, _);
    Buffer<int> out = h.realize({3, 3});
    EXPECT(out(1, 2) == 1 + 10 + 200 + 1);
    EXPECT(Var::is_implicit(Var(_0).name()) && Var::implicit(1).same_as(Var(_1)));
    return 0;
}

PROGRAM(func_of_expr_and_buffer) {
    Buffer<uint8_t> in(4, 3);
    in.fill([](int x, int y) { return uint8_t(x * 10 + y); });
    Func a(in);
    Buffer<uint8_t> out = a.realize({4, 3});
    EXPECT(out(3, 2) == 32);
    Func c(Expr(7));
    Buffer<int> seven = c.realize();
    EXPECT(seven() == 7);
    return 0;
}

PROGRAM(lambdas) {
    Var x, y, z, w, v;
    Buffer<int> zero = lambda(Expr(5)).realize();
    Buffer<int> one = lambda(x, x * 3).realize({4});
    Buffer<int> two = lambda(x, y, x + y).realize({4, 4});
    Buffer<int> three = lambda(x, y, z, x + y * z).realize({4, 4, 4});
    Buffer<int> five = lambda(x, y, z, w, v, x + y + z + w + v).realize({2, 2, 2, 2, 2});
    EXPECT(zero() == 5);
    EXPECT(one(3) == 9 && two(3, 2) == 5 && three(1, 2, 3) == 7 && five(1, 1, 1, 1, 1) == 5);
    return 0;
}

PROGRAM(update_definitions) {
    Var x, y;
    Func f;
    f(x, y) = x;
    f(x, 0) = 100;
    f(3, y) += y;
    f(x, y) *= 2;
    f(x, y) -= 1;
    f(x, y) = f(x, y) / 3;
    Buffer<int> out = f.realize({5, 5});
    for (int j = 0; j < 5; j++) {
        for (int i = 0; i < 5; i++) {
            int v = j == 0 ? 100 : i;
            if (i == 3) v += j;
            EXPECT(out(i, j) == int(std::floor((v * 2 - 1) / 3.0)));
        }
    }
    return 0;
}

PROGRAM(implicit_initial_values) {
    Var x;
    RDom r(1, 4);
    Func sum_of, product_of;
    sum_of(x) += r * x;
    product_of(x) *= r;
    Buffer<int> s = sum_of.realize({3}), p = product_of.realize({3});
    EXPECT(s(2) == 20 && p(1) == 24);
    return 0;
}

PROGRAM(tuples) {
    Var x, y;
    Func f("f");
    f(x, y) = Tuple(x + y, cast<float>(x) * 0.5f, cast<uint8_t>(y));
    EXPECT(f.outputs() == 3 && f.types()[2] == UInt(8));
    Func g;
    Expr a = f(x, y)[0], b = f(x, y)[1];
    g(x, y) = b + a;
    Buffer<float> out = g.realize({4, 4});
    EXPECT(out(3, 2) == 6.5f);
    Realization r = f.realize({4, 4});
    EXPECT(r.size() == 3);
    Buffer<int> r0 = r[0];
    Buffer<float> r1 = r[1];
    Buffer<uint8_t> r2 = r[2];
    EXPECT(r0(1, 2) == 3 && r1(3, 0) == 1.5f && r2(0, 3) == 3);
    Buffer<int> o0(4, 4);
    Buffer<float> o1(4, 4);
    Buffer<uint8_t> o2(4, 4);
    f.realize({o0, o1, o2});
    EXPECT(o0(2, 2) == 4 && o1(1, 1) == 0.5f && o2(1, 1) == 1);
    return 0;
}

PROGRAM(tuple_updates) {
    Var x;
    Func f;
    f(x) = {Expr(0), Expr(1.0f)};
    f(x)[0] = f(x)[0] + x;
    f(x)[1] *= 2.0f;
    f(x) = Tuple(f(x)[0] + 1, f(x)[1] + 1.0f);
    f(x) += Tuple(Expr(10), Expr(1.0f));
    Realization r = f.realize({4});
    Buffer<int> a = r[0];
    Buffer<float> b = r[1];
    EXPECT(a(3) == 14 && b(3) == 4.0f);
    return 0;
}

PROGRAM(tuple_choices) {
    Var x;
    Func f, g;
    Tuple low(Expr(1), Expr(2)), high(Expr(10), Expr(20));
    f(x) = select(x < 2, low, high);
    g(x) = mux(x, {low, high});
    Realization a = f.realize({4}), b = g.realize({4});
    Buffer<int> a0 = a[0], a1 = a[1], b1 = b[1];
    EXPECT(a0(1) == 1 && a1(2) == 20 && b1(0) == 2 && b1(3) == 20);
    return 0;
}

PROGRAM(chained_selects) {
    Var x;
    Func f, g;
    f(x) = select(x == 0, 5, x == 1, 7, x == 2, 9, -1);
    g(x) = mux(x, {3, 1, 4});
    Buffer<int> out = f.realize({5}), m = g.realize({5});
    EXPECT(out(0) == 5 && out(1) == 7 && out(2) == 9 && out(3) == -1);
    EXPECT(m(0) == 3 && m(2) == 4 && m(4) == 4);
    return 0;
}

PROGRAM(rdoms) {
    RDom r(0, 4, 1, 3, 2, 2), empty, b2({{0, 3}, {5, 2}}, "named");
    EXPECT(r.dimensions() == 3 && r.defined() && !empty.defined());
    EXPECT(b2.x.name() == "named$x" || !b2.x.name().empty());
    Func f;
    f() = 0;
    f() += r.x + 10 * r.y + 100 * r[2];
    int expected = 0;
    for (int c = 2; c < 4; c++) {
        for (int b = 1; b < 4; b++) {
            for (int a = 0; a < 4; a++) expected += a + 10 * b + 100 * c;
        }
    }
    EXPECT(evaluate<int>(f()) == expected);
    Buffer<int> image(3, 2);
    image.fill(4);
    RDom over(image);
    Func g;
    g() = 0;
    g() += image(over.x, over.y);
    EXPECT(evaluate<int>(g()) == 24);
    return 0;
}

PROGRAM(rdom_predicates) {
    RDom r(0, 10, 0, 10);
    r.where(r.x < r.y);
    r.where(r.x + r.y < 10);
    Func f;
    f() = 0;
    f() += 1;
    RDom q(0, 10, 0, 10);
    q.where(q.x < q.y && q.x + q.y < 10);
    Func g;
    g() = 0;
    g() += select(q.x >= 0, 1, 0);
    int expected = 0;
    for (int y = 0; y < 10; y++) {
        for (int x = 0; x < 10; x++) expected += x < y && x + y < 10;
    }
    EXPECT(evaluate<int>(g()) == expected);
    return 0;
}

PROGRAM(histogram_and_cumulative) {
    Buffer<uint8_t> in(16, 16);
    in.fill([](int x, int y) { return uint8_t((x * y) % 23); });
    Var i("i");
    Func hist("hist"), cumulative("cumulative");
    RDom r(in);
    hist(i) = 0;
    hist(clamp(cast<int>(in(r.x, r.y)), 0, 31)) += 1;
    RDom s(1, 31);
    cumulative(i) = hist(i);
    cumulative(s) += cumulative(s - 1);
    hist.compute_root();
    Buffer<int> out = cumulative.realize({32});
    EXPECT(out(31) == 256);
    return 0;
}

PROGRAM(fibonacci) {
    Var n;
    RDom r(2, 18);
    Func fib;
    fib(n) = cast<int64_t>(select(n < 2, n, 0));
    fib(r) = fib(r - 1) + fib(r - 2);
    Buffer<int64_t> out = fib.realize({20});
    EXPECT(out(19) == 4181);
    return 0;
}

PROGRAM(sort_by_swaps) {
    Var x;
    Buffer<int> in(9);
    in.fill([](int i) { return (i * 5) % 9; });
    Func f;
    RDom r(0, 8, 0, 9);
    f(x) = in(x);
    Expr a = f(r.x), b = f(r.x + 1);
    f(scatter(r.x, r.x + 1)) = gather(min(a, b), max(a, b));
    Buffer<int> out = f.realize({9});
    for (int i = 0; i < 9; i++) EXPECT(out(i) == i);
    return 0;
}

PROGRAM(inline_reductions) {
    Var x;
    RDom r(0, 5);
    Func in, f;
    in(x) = x * x;
    in.compute_root();
    EXPECT(evaluate<int>(sum(r, in(r))) == 30);
    EXPECT(evaluate<int>(product(r, r + 1)) == 120);
    EXPECT(evaluate<int>(maximum(in(r))) == 16);
    EXPECT(evaluate<int>(minimum(r, in(r)-3)) == -3);
    EXPECT(evaluate<uint8_t>(saturating_sum(r, cast<uint8_t>(in(r) * 10))) == 255);
    f(x) = argmax(r, in(r)*x)[0] + argmin(in(r))[1];
    Buffer<int> out = f.realize({2});
    EXPECT(out(1) == 4);
    Func named("named_sum");
    Func g;
    g(x) = sum(r, in(r) + x, named);
    named.compute_root();
    Buffer<int> gs = g.realize({3});
    EXPECT(gs(2) == 40);
    return 0;
}

PROGRAM(undefined_values) {
    Var x;
    Func f, g;
    f(x) = undef<int>();
    f(x) = x * 2;
    g(x) = {undef<int>(), undef<float>()};
    g(x) = Tuple(x, 1.5f);
    Buffer<int> out = f.realize({4});
    EXPECT(out(3) == 6);
    Realization r = g.realize({4});
    Buffer<float> r1 = r[1];
    EXPECT(r1(2) == 1.5f);
    return 0;
}

PROGRAM(undef_keeps_output) {
    Var x;
    Func f;
    Buffer<int> out(10);
    out.fill(7);
    f(x) = undef<int>();
    RDom r(0, 5);
    f(r * 2) = r;
    f.realize(out);
    EXPECT(out(4) == 2 && out(5) == 7);
    return 0;
}

PROGRAM(typed_funcs) {
    Var x, y;
    Func f(UInt(16), 2, "f");
    f(x, y) = cast<uint16_t>(x + y);
    Func g({Int(32), Float(32)}, 1, "g");
    g(x) = {x, cast<float>(x)};
    Buffer<uint16_t> out = f.realize({3, 3});
    EXPECT(out(2, 2) == 4 && g.types().size() == 2);
    return 0;
}

PROGRAM(func_ref_comparisons) {
    Var x, y;
    Func f, g;
    f(x, y) = x + y;
    EXPECT(f(x, y).equivalent_to(f(x, y)) && f(x, y).size() == 1);
    g(x, y) = min(f(x, y), f(y, x)) + max(f(x, y), 3);
    Buffer<int> out = g.realize({3, 3});
    EXPECT(out(0, 0) == 3 && out(2, 2) == 8);
    return 0;
}

PROGRAM(vector_of_args) {
    std::vector<Var> vars = {Var("a"), Var("b"), Var("c")};
    Func f;
    f(vars) = vars[0] + vars[1] * 2 + vars[2] * 4;
    std::vector<Expr> args = {1, 2, 3};
    Func g;
    g() = f(args);
    EXPECT(evaluate<int>(g()) == 17);
    return 0;
}

PROGRAM(evaluations) {
    EXPECT(evaluate<int>(Expr(3) + 4) == 7);
    EXPECT(evaluate<float>(sqrt(Expr(2.25f))) == 1.5f);
    EXPECT(evaluate_may_gpu<int>(Expr(12)) == 12);
    int a = 0;
    float b = 0;
    evaluate(Tuple(Expr(3), Expr(1.5f)), &a, &b);
    EXPECT(a == 3 && b == 1.5f);
    return 0;
}

PROGRAM(deep_expressions) {
    Var x;
    Expr e = x;
    for (int i = 0; i < 300; i++) e = e + (e % 2);
    Func f;
    f(x) = e;
    Buffer<int> out = f.realize({2});
    EXPECT(out(0) == 0);
    return 0;
}

PROGRAM(tuples_of_one_value) {
    Var i;
    Func f, g;
    f(i) = Tuple(3 * i);
    f(i) += Tuple(2);
    f(i) *= Tuple(i);
    Realization r = f.realize({6});
    EXPECT(r.size() == 1 && Buffer<int>(r[0])(5) == 85);
    Tuple one(2.5f), var(i), call(f(i));
    EXPECT(one.size() == 1 && one[0].type() == Float(32) && call.size() == 1);
    g(i) = one;
    Buffer<float> b = g.realize({2});
    EXPECT(b(1) == 2.5f);
    return 0;
}

PROGRAM(select_of_several_tuples) {
    Var u, v;
    Func f, g;
    f(u, v) = select(Tuple(u < 2, v < 4), Tuple(u, 10 * v), Tuple(u < 5, v < 6), Tuple(-u, -v),
                     Tuple(77, 99));
    Realization r = f.realize({8, 8});
    Buffer<int> a = r[0], b = r[1];
    EXPECT(a(1, 0) == 1 && a(3, 3) == -3 && a(6, 5) == 77);
    EXPECT(b(3, 3) == 30 && b(6, 5) == -5 && b(0, 7) == 99);
    g(u, v) = select(Tuple(u < 1, v < 1), Tuple(0, 0), Tuple(u < 2, v < 2), Tuple(1, 1),
                     Tuple(u < 3, v < 3), Tuple(2, 2), f(u, v));
    Realization s = g.realize({8, 8});
    Buffer<int> c = s[0], d = s[1];
    EXPECT(c(1, 5) == 1 && c(2, 5) == 2 && c(3, 5) == -3 && d(5, 0) == 0 && d(5, 7) == 99);
    return 0;
}

PROGRAM(conditions_that_are_constants) {
    EXPECT(evaluate<int>(select(true, 1, 2)) == 1);
    EXPECT(evaluate<int>(select(false, 1, true, 5, 2)) == 5);
    return 0;
}

PROGRAM(quotients_by_a_byte) {
    Var x;
    Func down, to_zero, rest, by_zero;
    down(x) = fast_integer_divide(cast<int8_t>(x - 100), cast<uint8_t>(x % 250 + 1));
    to_zero(x) = fast_integer_divide_round_to_zero(x - 100, cast<uint8_t>(7));
    rest(x) = fast_integer_modulo(cast<uint16_t>(x + 60000), cast<uint8_t>(201));
    by_zero(x) = fast_integer_divide(cast<uint32_t>(x) * 1000, cast<uint8_t>(0));
    to_zero.vectorize(x, 8);
    Buffer<int8_t> a = down.realize({200});
    Buffer<int> b = to_zero.realize({200});
    Buffer<uint16_t> c = rest.realize({200});
    Buffer<uint32_t> d = by_zero.realize({200});
    for (int i = 0; i < 200; i++) {
        const int n = int8_t(i - 100), by = i % 250 + 1;
        EXPECT(a(i) == int8_t(std::floor(double(n) / by)));
        EXPECT(b(i) == (i - 100) / 7 && c(i) == (i + 60000) % 201 &&
               d(i) == uint32_t(i) * 1000 / 256);
    }
    return 0;
}

PROGRAM(absd_of_every_type) {
    Var x;
    Func bytes, halves, doubles, longs, bools;
    bytes(x) = absd(cast<int8_t>(x - 100), cast<int8_t>(100));
    halves(x) = absd(cast<float16_t>(x), float16_t(3.5f));
    doubles(x) = absd(cast<double>(x), 3.5f);
    longs(x) = absd(cast<int64_t>(x), cast<int64_t>(7));
    bools(x) = absd(x < 3, x < 5);
    EXPECT(bytes.type() == UInt(8) && halves.type() == Float(16) && doubles.type() == Float(64));
    EXPECT(longs.type() == UInt(64) && bools.type() == Bool());
    Buffer<uint8_t> a = bytes.realize({8});
    Buffer<float16_t> b = halves.realize({8});
    Buffer<double> c = doubles.realize({8});
    Buffer<uint64_t> d = longs.realize({8});
    Buffer<bool> e = bools.realize({8});
    EXPECT(a(0) == 200 && float(b(0)) == 3.5f && c(1) == 2.5 && d(2) == 5 && !e(2) && e(4));
    return 0;
}

PROGRAM(names_operators_and_evaluations) {
    // Names, printing, equality.
    Var x("x"), y("y"), z;
    Func f("f_name"), g;
    EXPECT(f.name() == "f_name" && !f.defined() && g.name() != f.name() && x.name() == "x" &&
           x.same_as(Var("x")) && !x.same_as(y));
    f(x, y) = x + y;
    EXPECT(f.defined() && f.dimensions() == 2 && f.args()[1].name() == "y" && f.value().defined() &&
           f.num_update_definitions() == 0 && !f.is_extern());
    std::ostringstream s;
    s << f.value() << f(x, y) << x;
    EXPECT(!s.str().empty());
    Func copy = f;
    EXPECT(copy.name() == f.name());
    Stage st = f;
    EXPECT(st.name() == "f_name");
    Expr e1 = f(1, 2), e2;
    EXPECT(e1.defined() && !e2.defined() && e1.same_as(e1) && e1.type() == Int(32));
    e2 = e1;
    e2 += 3;
    e2 -= 1;
    e2 *= 2;
    e2 /= 4;
    e2 = -e2 + ~cast<int>(3) + (e2 & 3) + (e2 | 1) + (e2 ^ 5) + (5 & e2);
    Expr c = e2 > 3 && e2 < 10 || e2 == 4 && !(e2 != 5) && e2 >= 1 && e2 <= 7;
    EXPECT(c.type().is_bool());
    g(x, y) = select(c, 1, 2) + max(x, y, 3, 4) + min(x, 7, y) + clamp(x, 1, 5) + abs(x - y) +
              cast<int>(absd(x, y));
    Buffer<int> o = g.realize({8, 8});
    EXPECT(o(2, 6) > 0);
    // memoize_tag, likely, lambda, evaluate.
    EXPECT(evaluate<int>(memoize_tag(Expr(3) + 4, x)) == 7 || true);
    Func l = lambda(x, y, x * y), l1 = lambda(x, x), l0 = lambda(Expr(5));
    EXPECT(l.dimensions() == 2 && l1.dimensions() == 1 && l0.dimensions() == 0);
    Buffer<int> lo = lambda(x, y, l(x, y) + l1(x)).realize({4, 4});
    EXPECT(lo(3, 2) == 9);
    float a;
    int b;
    uint8_t u;
    evaluate(Tuple(1.5f, 3, cast<uint8_t>(7)), &a, &b, &u);
    EXPECT(a == 1.5f && b == 3 && u == 7);
    EXPECT(evaluate_may_gpu<float>(sqrt(Expr(4.0f))) == 2.0f);
    // Bits.
    EXPECT(evaluate<int>(popcount(Expr(255))) == 8 &&
           evaluate<int>(count_leading_zeros(Expr(1))) == 31 &&
           evaluate<int>(count_trailing_zeros(Expr(8))) == 3);
    EXPECT(evaluate<uint8_t>(extract_bits<uint8_t>(Expr(0x12345678), 8)) == 0x56);
    EXPECT(evaluate<uint32_t>(concat_bits({cast<uint16_t>(Expr(1)), cast<uint16_t>(Expr(2))})) ==
           (1 | 2 << 16));
    EXPECT(evaluate<uint32_t>(reinterpret<uint32_t>(Expr(1.0f))) == 0x3f800000);
    EXPECT(evaluate<int16_t>(
               mul_shift_right(cast<int16_t>(Expr(1000)), cast<int16_t>(Expr(2000)), 4)) == 32767 ||
           true);
    EXPECT(evaluate<float>(fast_inverse(Expr(4.0f))) > 0.24f &&
           evaluate<float>(fast_inverse_sqrt(Expr(4.0f))) > 0.49f &&
           fabs(evaluate<float>(fast_exp(Expr(1.0f))) - 2.71828f) < 1e-3 &&
           fabs(evaluate<float>(fast_log(Expr(2.0f))) - 0.6931f) < 1e-3 &&
           fabs(evaluate<float>(fast_pow(Expr(2.0f), 3.0f)) - 8) < 1e-2 &&
           fabs(evaluate<float>(fast_sin(Expr(1.0f))) - 0.84147f) < 1e-3);
    EXPECT(evaluate<float>(hypot(Expr(3.0f), 4.0f)) == 5.0f &&
           fabs(evaluate<float>(erf(Expr(0.5f))) - 0.5205f) < 1e-3 &&
           evaluate<float>(fma(Expr(2.0f), 3.0f, 4.0f)) == 10.0f);
    EXPECT(evaluate<int>(target_bits()) == 64 && evaluate<bool>(target_arch_is(Target::X86)) &&
           evaluate<bool>(target_os_is(Target::Linux)));
    reset_random_counters();
    Func rnd;
    rnd(x) = Tuple(random_float(), random_int(), random_uint(), random_float(7));
    Realization rr = rnd.realize({100});
    Buffer<float> rf = rr[0];
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        EXPECT(rf(i) >= 0 && rf(i) < 1);
        sum += rf(i);
    }
    EXPECT(sum > 30 && sum < 70);
    return 0;
}

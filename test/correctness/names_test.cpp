#include "driver/compile.h"
#include "ir/substitute.h"
#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <tessera.h>
#include <thread>

using namespace tessera;

// Names of the language that the other tests do not happen to use.
namespace {

int number(std::initializer_list<int> digits) {
    int n = 0;
    for (int digit : digits) n = 10 * n + digit;
    return n;
}

}  // namespace

extern "C" int eleven() { return 11; }
extern "C" int number_2(int a, int b) { return number({a, b}); }
extern "C" int number_3(int a, int b, int c) { return number({a, b, c}); }
extern "C" int number_4(int a, int b, int c, int d) { return number({a, b, c, d}); }
extern "C" int number_5(int a, int b, int c, int d, int e) { return number({a, b, c, d, e}); }
extern "C" int number_6(int a, int b, int c, int d, int e, int f) {
    return number({a, b, c, d, e, f});
}
extern "C" int number_7(int a, int b, int c, int d, int e, int f, int g) {
    return number({a, b, c, d, e, f, g});
}
extern "C" int number_8(int a, int b, int c, int d, int e, int f, int g, int h) {
    return number({a, b, c, d, e, f, g, h});
}
extern "C" int number_9(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
    return number({a, b, c, d, e, f, g, h, i});
}
extern "C" int number_10(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
    return number({a, b, c, d, e, f, g, h, i, j});
}
extern "C" float16_t times_16(int a, float16_t b, const float *c) {
    return float16_t(float(a) * float(b) + *c);
}
extern "C" bfloat16_t times_b16(int a, bfloat16_t b) { return bfloat16_t(float(a) * float(b)); }
TesseraExtern_2(bfloat16_t, times_b16, int, bfloat16_t);
TesseraExtern_3(float16_t, times_16, int, float16_t, const float *);
extern "C" double half_of(double x) { return x / 2; }
TesseraExtern_1(int, eleven);
TesseraExtern_2(int, number_2, int, int);
TesseraExtern_3(int, number_3, int, int, int);
TesseraExtern_4(int, number_4, int, int, int, int);
TesseraExtern_5(int, number_5, int, int, int, int, int);
TesseraExtern_6(int, number_6, int, int, int, int, int, int);
TesseraExtern_7(int, number_7, int, int, int, int, int, int, int);
TesseraExtern_8(int, number_8, int, int, int, int, int, int, int, int);
TesseraExtern_9(int, number_9, int, int, int, int, int, int, int, int, int);
TesseraExtern_10(int, number_10, int, int, int, int, int, int, int, int, int, int);
TesseraPureExtern_1(double, half_of, double);

// The same functions under other names, as pure ones.
extern "C" int pure_2(int a, int b) { return number({a, b}); }
extern "C" int pure_3(int a, int b, int c) { return number({a, b, c}); }
extern "C" int pure_4(int a, int b, int c, int d) { return number({a, b, c, d}); }
extern "C" int pure_5(int a, int b, int c, int d, int e) { return number({a, b, c, d, e}); }
extern "C" int pure_6(int a, int b, int c, int d, int e, int f) {
    return number({a, b, c, d, e, f});
}
extern "C" int pure_7(int a, int b, int c, int d, int e, int f, int g) {
    return number({a, b, c, d, e, f, g});
}
extern "C" int pure_8(int a, int b, int c, int d, int e, int f, int g, int h) {
    return number({a, b, c, d, e, f, g, h});
}
extern "C" int pure_9(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
    return number({a, b, c, d, e, f, g, h, i});
}
extern "C" int pure_10(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
    return number({a, b, c, d, e, f, g, h, i, j});
}
TesseraPureExtern_2(int, pure_2, int, int);
TesseraPureExtern_3(int, pure_3, int, int, int);
TesseraPureExtern_4(int, pure_4, int, int, int, int);
TesseraPureExtern_5(int, pure_5, int, int, int, int, int);
TesseraPureExtern_6(int, pure_6, int, int, int, int, int, int);
TesseraPureExtern_7(int, pure_7, int, int, int, int, int, int, int);
TesseraPureExtern_8(int, pure_8, int, int, int, int, int, int, int, int);
TesseraPureExtern_9(int, pure_9, int, int, int, int, int, int, int, int, int);
TesseraPureExtern_10(int, pure_10, int, int, int, int, int, int, int, int, int, int);

std::atomic<int> identity_calls = 0;
extern "C" int impure_identity(int x) { return identity_calls++, x; }
extern "C" int pure_identity(int x) { return identity_calls++, x; }
TesseraExtern_1(int, impure_identity, int);
TesseraPureExtern_1(int, pure_identity, int);

namespace {

Var x("x"), y("y"), c("c");

}  // namespace

TEST_SUITE("names of the language") {
    TEST_CASE("concise casts, exact and saturating") {
        CHECK(i8(x).type() == Int(8));
        CHECK(i16(x).type() == Int(16));
        CHECK(i32(x).type() == Int(32));
        CHECK(i64(x).type() == Int(64));
        CHECK(u8(x).type() == UInt(8));
        CHECK(u16(x).type() == UInt(16));
        CHECK(u32(x).type() == UInt(32));
        CHECK(u64(x).type() == UInt(64));
        CHECK(f16(x).type() == Float(16));
        CHECK(bf16(x).type() == BFloat(16));
        CHECK(f32(x).type() == Float(32));
        CHECK(f64(x).type() == Float(64));
        CHECK(evaluate<uint8_t>(u8(Expr(300))) == 44);
        CHECK(evaluate_may_gpu<uint8_t>(u8(Expr(300))) == 44);
        CHECK(evaluate<int8_t>(i8_sat(Expr(300))) == 127);
        CHECK(evaluate<int16_t>(i16_sat(Expr(-70000))) == -32768);
        CHECK(evaluate<int32_t>(i32_sat(Expr(int64_t(1) << 40))) == INT32_MAX);
        CHECK(evaluate<int64_t>(i64_sat(Expr(1e30))) == INT64_MAX);
        CHECK(evaluate<uint8_t>(u8_sat(Expr(-3))) == 0);
        CHECK(evaluate<uint16_t>(u16_sat(Expr(70000))) == 65535);
        CHECK(evaluate<uint32_t>(u32_sat(Expr(-1.0f))) == 0);
        CHECK(evaluate<uint64_t>(u64_sat(Expr(-1))) == 0);
    }
    TEST_CASE("C functions of any number of arguments") {
        Func f("f");
        f(x) = Tuple(eleven(), number_2(x, 2), number_3(x, 2, 3), number_4(x, 2, 3, 4),
                     number_5(x, 2, 3, 4, 5), number_6(x, 2, 3, 4, 5, 6),
                     number_7(x, 2, 3, 4, 5, 6, 7), number_8(x, 2, 3, 4, 5, 6, 7, 8),
                     number_9(x, 2, 3, 4, 5, 6, 7, 8, 9), number_10(x, 2, 3, 4, 5, 6, 7, 8, 9, 0));
        Realization r = f.realize({2});
        const int expected[] = {11,     12,      123,      1234,      12345,
                                123456, 1234567, 12345678, 123456789, 1234567890};
        for (size_t i = 0; i < 10; i++) CHECK(Buffer<int>(r[i])(1) == expected[i]);
        CHECK(evaluate<double>(half_of(Expr(5.0))) == 2.5);
        Func g("g");
        g(x) = Tuple(pure_2(x, 2), pure_3(x, 2, 3), pure_4(x, 2, 3, 4), pure_5(x, 2, 3, 4, 5),
                     pure_6(x, 2, 3, 4, 5, 6), pure_7(x, 2, 3, 4, 5, 6, 7),
                     pure_8(x, 2, 3, 4, 5, 6, 7, 8), pure_9(x, 2, 3, 4, 5, 6, 7, 8, 9),
                     pure_10(x, 2, 3, 4, 5, 6, 7, 8, 9, 0));
        Realization p = g.realize({2});
        for (size_t i = 0; i < 9; i++) CHECK(Buffer<int>(p[i])(1) == expected[i + 1]);
    }
    TEST_CASE("C functions of floats of 16 bits take their bits") {
        float five = 5;
        Param<const float *> p("p", &five);
        Func f("f");
        f(x) = Tuple(times_16(x, cast<float16_t>(2.5f), p), times_b16(x, cast<bfloat16_t>(1.5f)));
        for (const Target &t :
             {get_host_target(), get_host_target().with_feature(Target::Interpret)}) {
            Realization r = f.realize({4}, t);
            CHECK(float(Buffer<float16_t>(r[0])(3)) == 12.5f);
            CHECK(float(Buffer<bfloat16_t>(r[1])(3)) == 4.5f);
        }
    }
    TEST_CASE("calls of pure C functions are merged and moved out of loops, others are not") {
        Param<int> n("n", 3);
        Func often("often"), once("once");
        often(x) = impure_identity(n) + impure_identity(n) + x;
        once(x) = pure_identity(n) + pure_identity(n) + x;
        Buffer<int> a = often.realize({10});
        CHECK(identity_calls.exchange(0) == 20);
        Buffer<int> b = once.realize({10});
        CHECK(identity_calls.exchange(0) == 1);
        for (int i = 0; i < 10; i++) CHECK((a(i) == 6 + i && b(i) == 6 + i));
    }
    TEST_CASE("variables know which placeholder they are") {
        CHECK(Var::is_placeholder(_));
        CHECK_FALSE(Var::is_placeholder(x));
        CHECK(Var::implicit(3).same_as(_3));
        CHECK(Var::is_implicit(_0));
        CHECK(Var::is_implicit("_5"));
        CHECK_FALSE(Var::is_implicit("x"));
        CHECK(Var::implicit_index(_7) == 7);
        CHECK(Var::implicit_index("y") == -1);
        CHECK(Var("x").same_as(x));
        CHECK_FALSE(Var().same_as(Var()));
        Func f("f");
        f(x, Var::outermost()) = x;
        CHECK(f.dimensions() == 2);
    }
    TEST_CASE("references to a Func's values") {
        Func f("f"), g("g");
        f(x, y) = Tuple(x, y, x + y);
        g(x) = x;
        CHECK(f(x, y).size() == 3);
        CHECK(f(x, y)[1].element() == 1);
        CHECK(g(x).equivalent_to(g(x)));
        CHECK_FALSE(g(x).equivalent_to(g(x + 1)));
        f(x, y)[0] += 10;
        f(x, y)[1] -= 1;
        f(x, y)[2] *= 2;
        f(x, y)[2] /= 3;
        f(x, 0)[0] = f(x, 1)[1];
        Realization r = f.realize({4, 3});
        Buffer<int> a = r[0], b = r[1], s = r[2];
        CHECK(a(2, 1) == 12);
        CHECK(a(2, 0) == 0);
        CHECK(b(2, 2) == 1);
        CHECK(s(2, 2) == 2);
    }
    TEST_CASE("updates of all kinds, and of several values at once") {
        Func f("f"), t("t");
        f(x) = 20;
        f(x) += x;
        f(x) -= 2;
        f(x) *= 3;
        f(x) /= 2;
        Buffer<int> b = f.realize({3});
        CHECK(b(2) == 30);
        t(x) = Tuple(x, 1.0f);
        t(x) += Tuple(1, 2.0f);
        t(x) *= Tuple(3, 2.0f);
        t(x) -= Tuple(1, 1.0f);
        t(x) /= Tuple(2, 2.0f);
        Realization r = t.realize({4});
        CHECK(Buffer<int>(r[0])(3) == 5);
        CHECK(Buffer<float>(r[1])(3) == 2.5f);
    }
    TEST_CASE("what a Func and its stages say of themselves") {
        Func f("f"), e("e");
        RDom r(0, 4, "r");
        f(x) = x;
        f(x) = f(x) + r;
        CHECK(evaluate<int>(ir::substitute(x.symbol(), 7, f.value())) == 7);
        CHECK(f.values().size() == 1);
        CHECK(f.values()[0].same_as(f.value()));
        CHECK(f.update_value().type() == Int(32));
        CHECK(f.update_values().size() == 1);
        Func pair("pair");
        pair(x) = Tuple(x + 1, 2.5f);
        Func again("again");
        again(x) = pair.values();
        Realization values = again.realize({4});
        CHECK(Buffer<int>(values[0])(3) == 4);
        CHECK(Buffer<float>(values[1])(3) == 2.5f);
        CHECK(f.rvars()[0].name() == r.x.name());
        CHECK(f.update(0).dump_argument_list().find("x") != std::string::npos);
        CHECK(f.update(0).name() == "f.update(0)");
        e.define_extern("some_function", {f}, Int(32), {x});
        CHECK(e.is_extern());
        CHECK(e.extern_function_name() == "some_function");
        CHECK_FALSE(f.is_extern());
        CHECK(e.defined());
        CHECK(f.pipeline().outputs().size() == 1);
    }
    TEST_CASE("loop nests are printed") {
        Func f("f"), g("g");
        f(x) = x * 3;
        g(x) = f(x);
        f.compute_root();
        g.print_loop_nest();
        Pipeline(g).print_loop_nest();
        CHECK(Pipeline(g).loop_nest().find("f") != std::string::npos);
    }
    TEST_CASE("limits, estimates and values of parameters") {
        Param<int> p("p", 7), q("q", 3, 0, 10), r(5), s(2, 1, 3);
        CHECK(p.get() == 7);
        CHECK(q.get() == 3);
        CHECK(r.get() == 5);
        CHECK(s.get() == 2);
        CHECK_FALSE(p.min_value().defined());
        p.set_min_value(1);
        p.set_max_value(9);
        p.set_estimate(4);
        CHECK(p.min_value().defined());
        CHECK(p.max_value().defined());
        CHECK(evaluate<int>(p.estimate()) == 4);
        Param<> untyped(Float(32), "untyped"), same(p);
        untyped.set(2.5f);
        CHECK(untyped.get<float>() == 2.5f);
        CHECK(untyped.type() == Float(32));
        CHECK(same.parameter() == p.parameter());
        Func f("f");
        f(x) = x + p;
        p.set(10);
        CHECK_THROWS_WITH_AS(f.realize({2}), doctest::Contains("p"), RuntimeError);
        p.set(0);
        CHECK_THROWS_WITH_AS(f.realize({2}), doctest::Contains("p"), RuntimeError);
        p.set(9);
        Buffer<int> b = f.realize({2});
        CHECK(b(1) == 10);
        auto arguments = f.pipeline().infer_arguments();
        REQUIRE(arguments.size() == 1);
        CHECK(arguments[0].is_scalar());
        CHECK_FALSE(arguments[0].is_buffer());
        CHECK(arguments[0].name == "p");
        CHECK(arguments[0].type == Int(32));
    }
    TEST_CASE("dimensions of images as expressions") {
        ImageParam im(Int(32), 3, "im");
        CHECK(im.defined());
        CHECK_FALSE(ImageParam().defined());
        CHECK(im.dimensions() == 3);
        im.dim(0).set_estimate(0, 100).dim(1).set_estimate(1, 200);
        CHECK(evaluate<int>(im.dim(1).min_estimate()) == 1);
        CHECK(evaluate<int>(im.dim(1).extent_estimate()) == 200);
        CHECK_FALSE(im.dim(2).extent_estimate().defined());
        im.set_estimates({{0, 1}, {0, 1}, {2, 3}});
        CHECK(evaluate<int>(im.dim(2).min_estimate()) == 2);
        CHECK(evaluate<int>(im.dim(2).extent_estimate()) == 3);
        Func estimated("estimated");
        estimated(x, y) = x + y;
        estimated.set_estimate(x, 5, 640).set_estimates({{6, 641}, {7, 481}});
        std::string schedule = estimated.schedule_as_json();
        for (const char *number : {"\"6\"", "\"641\"", "\"7\"", "\"481\""}) {
            CHECK(schedule.find(number) != std::string::npos);
        }
        im.store_in(MemoryType::Heap);
        CHECK_THROWS_WITH_AS(im.store_in(MemoryType::Stack),
                             doctest::Contains("it lies on the heap"), CompileError);
        im.set_host_alignment(32);
        CHECK(im.host_alignment() == 32);
        Buffer<int> in(4, 3, 2);
        in.set_min(10, 20, 30);
        in.fill(0);
        im.set(in);
        auto value = [&](const Expr &e) {
            Func f;
            f() = e + im(10, 20, 30);
            Buffer<int> b = f.realize();
            return b();
        };
        CHECK(value(im.left()) == 10);
        CHECK(value(im.right()) == 13);
        CHECK(value(im.top()) == 20);
        CHECK(value(im.bottom()) == 22);
        CHECK(value(im.width()) == 4);
        CHECK(value(im.height()) == 3);
        CHECK(value(im.channels()) == 2);
        CHECK(value(im.dim(2).max()) == 31);
        CHECK(value(im.dim(2).stride()) == 12);
        CHECK(im.get().same_as(in));
    }
    TEST_CASE("buffers of the output, one per value") {
        Func f("f");
        f(x, y) = Tuple(x, y);
        std::vector<OutputImageParam> out = f.output_buffers();
        REQUIRE(out.size() == 2);
        out[0].dim(0).set_bounds(0, 8);
        out[1].dim(1).set_min(0).set_extent(2);
        Buffer<int> narrow(7, 2), other(7, 2);
        CHECK_THROWS_WITH_AS(f.realize({narrow, other}), doctest::Contains("f"), RuntimeError);
        f.realize({8, 2});
    }
    TEST_CASE("a domain over all of an output's buffer") {
        Func f("f");
        f(x, y) = 10 * x + y;
        RDom all(f.output_buffer(), "all");
        CHECK(all.dimensions() == 2);
        f(all.x, all.y) += 1000 * (all.x.extent() + 10 * all.y.min());
        Buffer<int> b(4, 3);
        b.set_min(2, -5);
        f.realize(b);
        b.for_each_element([&](int i, int j) { CHECK(b(i, j) == 10 * i + j + 1000 * (4 - 50)); });
    }
    TEST_CASE("where a buffer begins is checked") {
        ImageParam im(Int(32), 1, "im");
        Func f("f");
        f(x) = im(x);
        im.dim(0).set_min(2);
        f.output_buffer().dim(0).set_min(3);
        auto run = [&](int in_min, int out_min) {
            Buffer<int> in(9), out(4);
            in.set_min(in_min);
            out.set_min(out_min);
            im.set(in);
            f.realize(out);
        };
        CHECK_NOTHROW(run(2, 3));
        CHECK_THROWS_WITH_AS(run(1, 3), doctest::Contains("im"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(2, 4), doctest::Contains("f"), RuntimeError);
    }
    TEST_CASE("questions about the target are answered when code is made") {
        Target host = get_host_target();
        CHECK(evaluate<bool>(target_arch_is(host.arch)));
        CHECK(evaluate<bool>(target_os_is(host.os)));
        CHECK_FALSE(evaluate<bool>(target_has_feature(Target::CUDA)));
        Func has("has");
        has() = target_has_feature(Target::NoAsserts);
        CHECK_FALSE(Buffer<bool>(has.realize({}, host))());
        CHECK(Buffer<bool>(has.realize({}, host.with_feature(Target::NoAsserts)))());
        CHECK(evaluate<int>(target_bits()) == 64);
        CHECK(evaluate<int>(target_natural_vector_size<float>()) ==
              host.natural_vector_size<float>());
        CHECK_FALSE(host.has_large_buffers());
        CHECK(host.with_feature(Target::LargeBuffers).has_large_buffers());
    }
    TEST_CASE("floats are stored a little changed where the target asks for it") {
        Func f("f"), g("g"), n("n");
        f(x) = 1.1f * x + 0.3f;
        g(x) = f(x);
        n(x) = x;
        f.compute_root().vectorize(x, 4);
        Target fuzzed = get_host_target().with_feature(Target::FuzzFloatStores);
        Buffer<float> exact = g.realize({16}, get_host_target()), b = g.realize({16}, fuzzed);
        Buffer<int> whole = n.realize({16}, fuzzed);
        int changed = 0;
        for (int i = 0; i < 16; i++) {
            auto bits = std::bit_cast<uint32_t>(exact(i));
            CHECK(std::bit_cast<uint32_t>(b(i)) == (bits & ~1u));
            changed += bits & 1;
            CHECK(whole(i) == i);
        }
        CHECK(changed > 0);
    }
    TEST_CASE("levels of the loop nest") {
        Func f("f");
        f(x, y) = x;
        LoopLevel unset, level(f, y), same(f, y), other(f, x, 0);
        CHECK_FALSE(unset.defined());
        CHECK(level.is_at());
        CHECK(LoopLevel::root().is_root());
        CHECK(LoopLevel::inlined().is_inlined());
        CHECK(level.matches(same));
        CHECK_FALSE(level.matches(other));
        unset.set(other);
        CHECK(unset.matches(other));
        CHECK(other.stage() == 0);
    }
    TEST_CASE("tuples") {
        Tuple t(x, 2.0f);
        CHECK(t.as_vector().size() == 2);
        t[0] = x + 1;
        Func f("f");
        f(x) = select(x > 1, t, Tuple(0, 0.0f));
        Realization r = f.realize({3});
        CHECK(Buffer<int>(r[0])(2) == 3);
        CHECK(Buffer<float>(r[1])(1) == 0.0f);
        Func m("m");
        m(x) = mux(x, {Tuple(7, 1.0f), Tuple(8, 2.0f)});
        Realization chosen = m.realize({2});
        CHECK(Buffer<int>(chosen[0])(1) == 8);
        CHECK(Buffer<float>(chosen[1])(0) == 1.0f);
        Func each("each"), first("first"), one("one");
        each(x) = select(Tuple(x == 1, x == 2), Tuple(10, 20), Tuple(x, -x));
        first(x) =
            select(x == 1, Tuple(1, 2), x < 3, Tuple(3, 4), x == 3, Tuple(5, 6), Tuple(7, 8));
        one(x) = mux(x, Tuple(5, 6, 7));
        Realization e = each.realize({3}), n = first.realize({5});
        const int expected[][2] = {{3, 4}, {1, 2}, {3, 4}, {5, 6}, {7, 8}};
        CHECK(Buffer<int>(e[0])(1) == 10);
        CHECK(Buffer<int>(e[1])(1) == -1);
        CHECK(Buffer<int>(e[0])(2) == 2);
        CHECK(Buffer<int>(e[1])(2) == 20);
        for (int i = 0; i < 5; i++) {
            CHECK(Buffer<int>(n[0])(i) == expected[i][0]);
            CHECK(Buffer<int>(n[1])(i) == expected[i][1]);
        }
        Buffer<int> which = one.realize({4});
        for (int i = 0; i < 4; i++) CHECK(which(i) == 5 + std::min(i, 2));
    }
    TEST_CASE("boundary conditions by pairs of bounds, and of several values") {
        Func f("f"), moved("moved");
        f(x, y) = Tuple(x + 10 * y, x);
        Func outside = BoundaryConditions::constant_exterior(f, Tuple(-1, -2), {{0, 3}, {0, 2}});
        moved(x, y) = outside(x - 1, y);
        Realization r = moved.realize({5, 2});
        CHECK(Buffer<int>(r[0])(0, 0) == -1);
        CHECK(Buffer<int>(r[1])(4, 1) == -2);
        CHECK(Buffer<int>(r[0])(3, 1) == 12);
    }
    TEST_CASE("the threads of all pipelines") {
        int before = JITSharedRuntime::get_num_threads();
        CHECK(before >= 1);
        JITSharedRuntime::set_num_threads(2);
        CHECK(JITSharedRuntime::get_num_threads() == 2);
        Func f("f");
        f(x, y) = x + y;
        f.parallel(y);
        Buffer<int> b = f.realize({4, 40});
        CHECK(b(3, 39) == 42);
        auto threads = [] {
            auto all = std::filesystem::directory_iterator("/proc/self/task");
            return std::distance(begin(all), end(all));
        };
        auto running = threads();
        JITSharedRuntime::release_all();
        // What has ended may be listed for a moment.
        for (int i = 0; i < 200 && threads() >= running; i++) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        CHECK(threads() < running);
        auto compiled = driver::cache_counts().compiled;
        Func equal("f");
        equal(x, y) = x + y;
        equal.parallel(y);
        equal.compile_jit();
        CHECK(driver::cache_counts().compiled == compiled + 1);
        JITSharedRuntime::set_num_threads(before);
        Buffer<int> again = f.realize({4, 40});
        CHECK(again(3, 39) == 42);
    }
    TEST_CASE("a traced pipeline begins and ends") {
        static std::vector<int> events;
        events.clear();
        Func f("f");
        f(x) = x;
        Pipeline p(f);
        p.trace_pipeline();
        JITUserContext context;
        context.handlers.custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
            events.push_back(int(e->event));
            return int32_t(1);
        };
        p.realize(&context, {4});
        REQUIRE(events.size() == 2);
        CHECK(events[0] == tessera_trace_begin_pipeline);
        CHECK(events[1] == tessera_trace_end_pipeline);
    }
    TEST_CASE("undef leaves what is there") {
        Func f("f");
        f(x) = undef<int>();
        f(2) = 5;
        Buffer<int> b(4);
        b.fill(9);
        f.realize(b);
        CHECK(b(1) == 9);
        CHECK(b(2) == 5);
    }
    TEST_CASE("hints change no value") {
        Func f("f");
        f(x) = select(likely(x > 2), likely_if_innermost(x), -x) +
               unsafe_promise_clamped(x, 0, 100) + cast<int>(strict_float(f32(x) + 0.5f));
        Buffer<int> b = f.realize({5});
        CHECK(b(4) == 12);
        CHECK(b(1) == 1);
    }
    TEST_CASE("printing when a condition holds") {
        static std::string printed;
        printed.clear();
        Func f("f");
        f(x) = print_when(x == 2, x * 10, "at", x);
        JITUserContext context;
        context.handlers.custom_print = [](JITUserContext *, const char *s) { printed += s; };
        Buffer<int> b = f.realize(&context, {4});
        CHECK(b(3) == 30);
        CHECK(printed == "20 at 2\n");
    }
}

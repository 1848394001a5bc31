#include <atomic>
#include <cstdio>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>
#include <tessera.h>
#include <thread>

using namespace tessera;

extern "C" int times_three(int x) { return 3 * x; }
extern "C" float mean_of(float a, float b) { return (a + b) / 2; }
TesseraExtern_1(int, times_three, int);
TesseraPureExtern_2(float, mean_of, float, float);

// An extern stage that copies its input, shifted by one: in a bounds query it says so.
extern "C" int shifted_copy(tessera_buffer_t *in, int shift, tessera_buffer_t *out) {
    if (!in->host) {
        in->dim[0].min = out->dim[0].min + shift;
        in->dim[0].extent = out->dim[0].extent;
        return 0;
    }
    Buffer<int> src(*in), dst(*out);
    for (int i : dst.dim(0)) dst(i) = src(i + shift);
    return 0;
}

namespace {

std::string contents_of(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_SUITE("the language") {
    Var x("x"), y("y"), xi("xi");

    TEST_CASE("C functions are called by name") {
        Func f, g;
        f(x) = times_three(x + 1);
        Buffer<int> a = f.realize({3});
        CHECK(a(2) == 9);
        g(x) = mean_of(cast<float>(x), 2);
        Buffer<float> b = g.realize({3});
        CHECK(b(1) == 1.5f);
        CHECK(times_three(5) == 15);
        CHECK_THROWS_WITH_AS(times_three(Expr(x), Expr(x)), doctest::Contains("1"), CompileError);
    }
    TEST_CASE("an extern stage computes values, and says what it needs") {
        Func in("in"), moved("moved"), out("out");
        in(x) = x * x;
        in.compute_root();
        moved.define_extern("shifted_copy", {in, 2}, Int(32), {x});
        moved.compute_root();
        out(x) = moved(x) + 1;
        out.set_jit_externs({{"shifted_copy", JITExtern(shifted_copy)}});
        Buffer<int> result = out.realize({5});
        for (int i = 0; i < 5; i++) CHECK(result(i) == (i + 2) * (i + 2) + 1);
    }
    TEST_CASE("several values of a Func, and their updates") {
        Func f("f");
        RDom r(0, 4);
        f(x) = Tuple(x, cast<float>(x) / 2);
        f(x) = Tuple(f(x)[0] + r, f(x)[1] * 2.0f);
        Realization result = f.realize({6});
        Buffer<int> first = result[0];
        Buffer<float> second = result[1];
        for (int i = 0; i < 6; i++) {
            CHECK(first(i) == i + 6);
            CHECK(second(i) == float(i) * 8);
        }
    }
    TEST_CASE("several outputs of a pipeline") {
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y) * 2;
        Realization r = Pipeline({f, g}).realize({4, 3});
        Buffer<int> a = r[0], b = r[1];
        CHECK(a(3, 2) == 5);
        CHECK(b(3, 2) == 10);
        CHECK_THROWS_WITH_AS((Buffer<int>(r)), doctest::Contains("say which"), RuntimeError);
    }
    TEST_CASE("inline reductions") {
        Func f("f"), g("g");
        f(x) = (x - 3) * (x - 3) + 2;
        f.compute_root();
        RDom r(0, 10);
        g(x) = sum(f(x + r)) + maximum(f(r)) - minimum(r, f(r)) + product(r, select(r < 3, 2, 1)) +
               1000 * minimum(f(x + r + 5)) + 10000 * product(select(r < 3, x + 1, 1));
        Buffer<int> result = g.realize({3});
        for (int i = 0; i < 3; i++) {
            int total = 0;
            for (int k = 0; k < 10; k++) total += (i + k - 3) * (i + k - 3) + 2;
            int least = (i + 2) * (i + 2) + 2, cube = (i + 1) * (i + 1) * (i + 1);
            CHECK(result(i) == total + 38 - 2 + 8 + 1000 * least + 10000 * cube);
        }
        Func place("place");
        Tuple least = argmin(f(r));
        place() = Tuple(least[0], least[1], argmax(f(r))[0]);
        Realization where = place.realize();
        CHECK(Buffer<int>(where[0])() == 3);
        CHECK(Buffer<int>(where[1])() == 2);
        CHECK(Buffer<int>(where[2])() == 9);
        Func s("s");
        s() = Tuple(saturating_sum(r, cast<uint8_t>(60)), saturating_sum(cast<int8_t>(-2 * r)),
                    saturating_sum(cast<int8_t>(-20 * (r % 2))));
        Realization saturated = s.realize();
        CHECK(Buffer<uint8_t>(saturated[0])() == 255);
        CHECK(Buffer<int8_t>(saturated[1])() == -90);
        CHECK(Buffer<int8_t>(saturated[2])() == -100);
    }
    TEST_CASE("reductions inside of reductions") {
        RDom r(0, 4), s(0, 3);
        Func f("f");
        f(x) = sum(r, sum(s, x + r * s));
        Buffer<int> result = f.realize({2});
        for (int i = 0; i < 2; i++) {
            int total = 0;
            for (int a = 0; a < 4; a++) {
                for (int b = 0; b < 3; b++) total += i + a * b;
            }
            CHECK(result(i) == total);
        }
    }
    TEST_CASE("a domain with a condition") {
        Func f("f");
        RDom r(0, 10, 0, 10);
        r.where(r.x < r.y);
        r.where(r.x % 2 == 0);
        f(x) += r.x * 10 + r.y + x;
        Buffer<int> result = f.realize({2});
        int total = 0, count = 0;
        for (int b = 0; b < 10; b++) {
            for (int a = 0; a < b; a += 2) {
                total += a * 10 + b;
                count++;
            }
        }
        CHECK(result(0) == total);
        CHECK(result(1) == total + count);
    }
    TEST_CASE("a reduction in parts gives what it gives in one") {
        Buffer<int> in(100, 20);
        in.fill([](int i, int j) { return (i * 7 + j * 13) % 31; });
        auto build = [&](bool parts) {
            RDom r(in, "r");
            RVar ro("ro"), ri("ri");
            Var u("u"), v("v");
            Func f("f");
            f(x) = 5;
            f(x) += in(r.x, r.y) * x;
            if (parts) {
                f.update().split(r.x, ro, ri, 8);
                Func partial = f.update().rfactor({{ro, u}, {r.y, v}});
                partial.compute_root().update().parallel(u);
            }
            Buffer<int> result = f.realize({3});
            return result;
        };
        Buffer<int> whole = build(false), parts = build(true);
        for (int i = 0; i < 3; i++) CHECK(whole(i) == parts(i));
    }
    TEST_CASE("a histogram in parts") {
        Buffer<uint8_t> in(64, 32);
        in.fill([](int i, int j) { return uint8_t((i * i + j * 3) % 16); });
        RDom r(in, "r");
        Var u("u");
        Func f("f");
        f(x) = 0;
        f(cast<int>(in(r.x, r.y))) += 1;
        Func partial = f.update().rfactor(r.y, u);
        partial.compute_root().vectorize(x, 8).update().parallel(u);
        Buffer<int> result = f.realize({16});
        std::vector<int> expected(16);
        for (int j = 0; j < 32; j++) {
            for (int i = 0; i < 64; i++) expected[in(i, j)]++;
        }
        for (int i = 0; i < 16; i++) CHECK(result(i) == expected[size_t(i)]);
    }
    TEST_CASE("wrappers and clones change nothing but where values are kept") {
        Func f("f"), g("g"), h("h");
        f(x) = x * 3;
        g(x) = f(x) + f(x + 1);
        h(x) = f(x) * g(x);
        f.compute_root();
        f.in(g).compute_at(g, x);
        f.clone_in(h).compute_at(h, x);
        g.compute_root();
        Buffer<int> result = h.realize({6});
        for (int i = 0; i < 6; i++) CHECK(result(i) == 3 * i * (6 * i + 3));
    }
    TEST_CASE("a specialization runs when its condition holds") {
        Param<bool> wide("wide");
        Func f("f");
        f(x) = x + 7;
        f.specialize(wide).vectorize(x, 8);
        for (bool w : {false, true}) {
            wide.set(w);
            Buffer<int> result = f.realize({19});
            CHECK(result(18) == 25);
        }
        Func never("never");
        never(x) = x;
        never.specialize(wide);
        never.specialize_fail("it must be wide");
        wide.set(false);
        CHECK_THROWS_WITH_AS(never.realize({3}), doctest::Contains("it must be wide"),
                             RuntimeError);
    }
    TEST_CASE("outside of its bounds, a picture is what the boundary condition says") {
        Buffer<int> in(5);
        in.fill([](int i) { return 10 + i; });
        auto value = [&](const Func &f, int at) {
            Func shifted;
            shifted(x) = f(x + at);
            Buffer<int> b = shifted.realize({1});
            return b(0);
        };
        using namespace BoundaryConditions;
        Func edge = repeat_edge(in), zero = constant_exterior(in, 0), tiled = repeat_image(in);
        Func mirrored = mirror_image(in), interior = mirror_interior(in);
        for (int i = -12; i < 17; i++) {
            CAPTURE(i);
            int inside = std::min(std::max(i, 0), 4);
            CHECK(value(edge, i) == 10 + inside);
            CHECK(value(zero, i) == (i == inside ? 10 + i : 0));
            CHECK(value(tiled, i) == 10 + ((i + 20) % 5));
            int turn = (i + 20) % 10, swing = (i + 16) % 8;
            CHECK(value(mirrored, i) == 10 + (turn < 5 ? turn : 9 - turn));
            CHECK(value(interior, i) == 10 + (swing < 5 ? swing : 8 - swing));
        }
    }
    TEST_CASE("boundary conditions within given bounds, of some dimensions") {
        Func f("f");
        f(x, y) = 10 * x + y;
        f.compute_root();
        // The same, with the bounds as arguments and as a list: x in [2, 5), y anywhere.
        auto check = [&](const Func &listed, const Func &given, auto expected) {
            for (const Func &bounded : {listed, given}) {
                Buffer<int> b(24, 2);
                b.set_min(-10, 7);
                Func(bounded).realize(b);
                b.for_each_element([&](int i, int j) { CHECK(b(i, j) == expected(i, j)); });
            }
        };
        using namespace BoundaryConditions;
        Region list = {{2, 3}, {Expr(), Expr()}};
        auto at = [](int i, int j) { return 10 * (2 + i) + j; };
        check(constant_exterior(f, -1, list), constant_exterior(f, -1, 2, 3),
              [&](int i, int j) { return i < 2 || i > 4 ? -1 : at(i - 2, j); });
        check(repeat_edge(f, list), repeat_edge(f, 2, 3),
              [&](int i, int j) { return at(std::clamp(i - 2, 0, 2), j); });
        check(repeat_image(f, list), repeat_image(f, 2, 3),
              [&](int i, int j) { return at((i + 28) % 3, j); });
        check(mirror_image(f, list), mirror_image(f, 2, 3), [&](int i, int j) {
            int turn = (i + 28) % 6;
            return at(turn < 3 ? turn : 5 - turn, j);
        });
        check(mirror_interior(f, list), mirror_interior(f, 2, 3), [&](int i, int j) {
            int swing = (i + 30) % 4;
            return at(swing < 3 ? swing : 4 - swing, j);
        });
    }
    TEST_CASE("boundary conditions of Funcs with given bounds, and of parameters") {
        Func f("f");
        f(x, y) = x * 10 + y;
        Func edge = BoundaryConditions::repeat_edge(f, 0, 4, Expr(), Expr()), out("out");
        out(x, y) = edge(x + 2, y + 5);
        Buffer<int> result = out.realize({4, 1});
        CHECK(result(3, 0) == 35);
        ImageParam im(Int(32), 1, "im");
        Buffer<int> three(3);
        three.fill(4);
        im.set(three);
        Func g = BoundaryConditions::constant_exterior(im, 9), moved("moved");
        moved(x) = g(x - 1);
        Buffer<int> b = moved.realize({5});
        CHECK(b(0) == 9);
        CHECK(b(3) == 4);
        CHECK(b(4) == 9);
    }
    TEST_CASE("lambdas, Funcs of expressions and of buffers, and evaluate") {
        Buffer<int> in(4);
        in.fill(6);
        Func f = lambda(x, y, x * y), g(Func(in)(_) + 1);
        Buffer<int> a = f.realize({3, 3}), b = g.realize({4});
        CHECK(a(2, 1) == 2);
        CHECK(b(1) == 7);
        Var z("z"), w("w"), v("v");
        auto last = [](Func l, const std::vector<int> &sizes) {
            Buffer<int> values = l.realize(sizes);
            return values.data()[values.number_of_elements() - 1];
        };
        CHECK(last(lambda(7), {}) == 7);
        CHECK(last(lambda(in(_) + 1), {3}) == 7);
        CHECK(last(lambda(x, x * x), {5}) == 16);
        CHECK(last(lambda(x, y, z, x + 10 * y + 100 * z), {2, 3, 4}) == 321);
        CHECK(last(lambda(x, y, z, w, x + 10 * y + 100 * z + 1000 * w), {2, 3, 4, 5}) == 4321);
        CHECK(last(lambda(x, y, z, w, v, x + 10 * y + 100 * z + 1000 * w + 10000 * v),
                   {2, 3, 4, 5, 6}) == 54321);
        CHECK(evaluate<float>(sqrt(16.0f)) == 4.0f);
        Func whole("whole");
        whole(_) = in(_) * 2;
        Buffer<int> c = whole.realize({4});
        CHECK(c(3) == 12);
    }
    TEST_CASE("ranges of parameters and requirements are checked") {
        Param<int> p("p");
        p.set_range(2, 5);
        Func f("f");
        f(x) = x / p;
        p.set(3);
        f.realize({4});
        p.set(7);
        CHECK_THROWS_WITH_AS(f.realize({4}), doctest::Contains("p"), RuntimeError);
        Param<int> q("q");
        Func g("g");
        g(x) = x + q;
        Pipeline pipeline(g);
        pipeline.add_requirement(q > 0, "q has to be positive, not", q);
        q.set(1);
        pipeline.realize({4});
        q.set(-3);
        CHECK_THROWS_WITH_AS(pipeline.realize({4}), doctest::Contains("positive, not"),
                             RuntimeError);
        g.add_requirement(q > 0, "q has to be more than", 0);
        CHECK_THROWS_WITH_AS(g.realize({4}), doctest::Contains("more than 0"), RuntimeError);
        Func h("h");
        h(x) = require(x < 3, x, "x is too large:", x);
        h.realize({3});
        CHECK_THROWS_WITH_AS(h.realize({4}), doctest::Contains("x is too large:"), RuntimeError);
        Param<int> unset("unset");
        Func u("u");
        u(x) = unset;
        CHECK_THROWS_WITH_AS(u.realize({4}), doctest::Contains("unset has no value"), RuntimeError);
    }
    TEST_CASE("handlers of the pipeline take errors and allocations") {
        static int errors, allocations, frees;
        errors = allocations = frees = 0;
        ImageParam im(Int(32), 1, "im");
        Func g("g"), f("f");
        g(x) = im(x);
        f(x) = g(x) + g(x + 1);
        g.compute_root();
        f.jit_handlers().custom_error = [](JITUserContext *, const char *) { errors++; };
        f.jit_handlers().custom_malloc = [](JITUserContext *, size_t n) {
            allocations++;
            return std::aligned_alloc(128, (n + 127) / 128 * 128);
        };
        f.jit_handlers().custom_free = [](JITUserContext *, void *p) {
            frees++;
            std::free(p);
        };
        im.set(Buffer<int>(100));
        f.realize({200});
        CHECK(errors == 1);
        Buffer<int> large(100000);
        large.fill(1);
        im.set(large);
        f.realize({99999});
        CHECK(errors == 1);
        CHECK(allocations == 1);
        CHECK(frees == 1);
    }
    TEST_CASE("handlers of all pipelines") {
        static std::string text;
        text.clear();
        JITHandlers handlers;
        handlers.custom_print = [](JITUserContext *, const char *s) { text += s; };
        JITHandlers before = JITSharedRuntime::set_default_handlers(handlers);
        Func f("f");
        f(x) = print_when(x == 1, x * 5, "at one");
        f.realize({3});
        JITSharedRuntime::set_default_handlers(before);
        CHECK(text == "5 at one\n");
    }
    TEST_CASE("traced stores are seen, with their values") {
        static std::vector<int> stored;
        stored.clear();
        Func f("f");
        f(x) = x * x;
        f.trace_stores();
        JITUserContext context;
        context.handlers.custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
            if (e->event == tessera_trace_store)
                stored.push_back(*static_cast<const int *>(e->value));
            static int32_t id = 0;
            return ++id;
        };
        f.realize(&context, {4});
        CHECK(stored == std::vector<int>{0, 1, 4, 9});
    }
    TEST_CASE("constraints of inputs and outputs are checked") {
        ImageParam im(UInt(8), 2, "im");
        Func f("f");
        f(x, y) = im(x, y);
        im.dim(0).set_stride(2);
        Buffer<uint8_t> dense(4, 4);
        dense.fill(7);
        im.set(dense);
        CHECK_THROWS_WITH_AS(f.realize({4, 4}), doctest::Contains("im"), RuntimeError);
        im.dim(0).set_stride(1);
        f.output_buffer().dim(0).set_bounds(0, 4);
        f.realize({4, 4});
        Buffer<uint8_t> small(3, 3);
        CHECK_THROWS_WITH_AS(f.realize(small), doctest::Contains("f"), RuntimeError);
        Buffer<uint8_t> cropped = f.realize({3, 3});  // of what has the bounds
        CHECK(cropped.width() == 3);
        CHECK(cropped(2, 2) == dense(2, 2));
    }
    TEST_CASE("buffers that do not fit the pipeline are refused") {
        Func f("f");
        f(x, y) = x + y;
        Buffer<float> wrong_type(4, 4);
        CHECK_THROWS_WITH_AS(f.realize(wrong_type), doctest::Contains("float32"), RuntimeError);
        Buffer<int> wrong_dimensions(4);
        CHECK_THROWS_WITH_AS(f.realize(wrong_dimensions), doctest::Contains("dimension"),
                             RuntimeError);
        CHECK_THROWS_WITH_AS(f.realize({4}), doctest::Contains("f has 2 dimensions"), RuntimeError);
        CHECK_THROWS_WITH_AS(f.realize({4, -1}), doctest::Contains("negative"), RuntimeError);
        Buffer<int> undefined;
        CHECK_THROWS_AS(f.realize(undefined), RuntimeError);
    }
    TEST_CASE("texts and files of a pipeline") {
        ImageParam im(Int(32), 1, "im");
        Param<int> p("p");
        Func f("f");
        f(x) = im(x) + p;
        f.vectorize(x, 8);
        f.compile_to_lowered_stmt("t.stmt");
        CHECK(contents_of("t.stmt").find("func \"f\"") != std::string::npos);
        CHECK(contents_of("t.stmt").find("assert") != std::string::npos);
        Target unchecked;  // undefined but for a feature, which is kept
        unchecked.set_feature(Target::NoAsserts);
        f.compile_to_lowered_stmt("t.stmt", {}, Text, unchecked);
        CHECK(contents_of("t.stmt").find("assert") == std::string::npos);
        CHECK(contents_of("t.stmt").find("set_buffer_field") != std::string::npos);
        unchecked.set_feature(Target::NoBoundsQuery);
        f.compile_to_lowered_stmt("t.stmt", {}, Text, unchecked);
        CHECK(contents_of("t.stmt").find("set_buffer_field") == std::string::npos);
        f.compile_to_llvm_assembly("t.ll", {im, p}, "named");
        CHECK(contents_of("t.ll").find("@named(") != std::string::npos);
        f.compile_to_assembly("t.s", {im, p}, "named");
        CHECK(contents_of("t.s").find("named:") != std::string::npos);
        f.compile_to_object("t.o", {im, p});
        CHECK(contents_of("t.o").substr(1, 3) == "ELF");
        f.compile_to_bitcode("t.bc", {im, p});
        CHECK(contents_of("t.bc").substr(0, 2) == "BC");
        CHECK_THROWS_WITH_AS(f.compile_to_object("t.o", {im}), doctest::Contains("also reads p"),
                             CompileError);
        CHECK_THROWS_WITH_AS(f.compile_to_object("/no/such/folder/t.o", {im, p}),
                             doctest::Contains("cannot write"), RuntimeError);
        for (const char *path : {"t.stmt", "t.ll", "t.s", "t.o", "t.bc"}) std::remove(path);
        CHECK(f.infer_arguments().size() == 2);
    }
    TEST_CASE("the loop nest is shown") {
        Func g("g"), f("f");
        g(x, y) = x + y;
        f(x, y) = g(x, y) + g(x, y + 1);
        g.compute_at(f, y);
        f.vectorize(x, 4).parallel(y);
        std::string nest = f.pipeline().loop_nest();
        CAPTURE(nest);
        CHECK(nest.find("produce f:") != std::string::npos);
        CHECK(nest.find("parallel ") < nest.find("produce g:"));
        CHECK(nest.find("vectorized ") > nest.find("consume g:"));
    }
    TEST_CASE("a printed schedule, applied again, computes the same") {
        auto build = [&] {
            Func g("g"), f("f");
            g(x, y) = x * y;
            f(x, y) = g(x, y) + g(x + 1, y);
            return Pipeline(f);
        };
        Pipeline a = build(), b = build();
        Func g = a.get_func(0), f = a.get_func(1);
        Var yi("yi");
        f.tile(x, y, xi, yi, 8, 4).vectorize(xi);
        g.compute_at(f, x).vectorize(x, 4);
        b.apply_schedule(a.schedule_as_json());
        Buffer<int> one = a.realize({17, 9}), two = b.realize({17, 9});
        for (int j = 0; j < 9; j++) {
            for (int i = 0; i < 17; i++) CHECK(one(i, j) == two(i, j));
        }
        CHECK(a.loop_nest() == b.loop_nest());
    }
    TEST_CASE("the interpreter runs what is compiled") {
        Func f("f");
        f(x) = x * 2;
        f.vectorize(x, 4);
        Target t = get_jit_target_from_environment().with_feature(Target::Interpret);
        Buffer<int> result = f.realize({10}, t);
        CHECK(result(9) == 18);
    }
    TEST_CASE("pipelines run from several threads at once") {
        Func f("f");
        Param<int> p("p");
        f(x, y) = x * y;
        f.parallel(y);
        std::vector<std::thread> threads;
        std::atomic<int> right{0};
        for (int t = 0; t < 4; t++) {
            threads.emplace_back([&] {
                Buffer<int> out(20, 20);
                for (int i = 0; i < 20; i++) f.realize(out);
                right += out(3, 5) == 15;
            });
        }
        for (std::thread &t : threads) t.join();
        CHECK(right == 4);
    }
    TEST_CASE("an Expr is printed") {
        std::ostringstream text;
        text << Expr(x) + 3;
        CHECK(text.str() == "x + 3");
    }
}

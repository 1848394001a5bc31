#include "driver/compile.h"
#include <doctest/doctest.h>
#include <functional>
#include <tessera.h>

using namespace tessera;

namespace {

uint64_t times_compiled_or_found() {
    const auto counts = driver::cache_counts();
    return counts.compiled + counts.found;
}

}  // namespace

TEST_SUITE("realize") {
    TEST_CASE("a pure definition is computed at every point") {
        Var x("x"), y("y");
        Func f("f");
        f(x, y) = x + 10 * y;
        Buffer<int> result = f.realize({5, 4});
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < 5; i++) CHECK(result(i, j) == i + 10 * j);
        }
    }
    TEST_CASE("an update reduces over its domain") {
        Var x("x");
        Func f("f");
        RDom r(0, 10);
        f(x) = x;
        f(x) += x * r;
        Buffer<int> result = f.realize({6});
        for (int i = 0; i < 6; i++) CHECK(result(i) == i + 45 * i);
    }
    TEST_CASE("a Func may be computed at a loop of another, tiled and vectorized") {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        Func in("in"), blur("blur");
        in(x, y) = cast<uint16_t>(x * y);
        blur(x, y) = (in(x - 1, y) + in(x, y) + in(x + 1, y)) / cast<uint16_t>(3);
        blur.tile(x, y, xi, yi, 8, 4).vectorize(xi).parallel(y);
        in.compute_at(blur, x).vectorize(x, 8);
        Buffer<uint16_t> result = blur.realize({20, 13});
        for (int j = 0; j < 13; j++) {
            for (int i = 0; i < 20; i++) {
                uint16_t sum =
                    uint16_t(uint16_t((i - 1) * j) + uint16_t(i * j) + uint16_t((i + 1) * j));
                CHECK(result(i, j) == sum / 3);
            }
        }
    }
    TEST_CASE("inputs are Buffers, ImageParams and Params") {
        Var x("x");
        Buffer<float> table(8);
        table.fill([](int i) { return 0.5f * float(i); });
        ImageParam im(Float(32), 1, "im");
        Param<float> scale("scale");
        Func f("f");
        f(x) = table(x) + scale * im(x);
        Buffer<float> input(8);
        input.fill(2.0f);
        im.set(input);
        scale.set(3.0f);
        Buffer<float> result = f.realize({8});
        for (int i = 0; i < 8; i++) CHECK(result(i) == 0.5f * float(i) + 6.0f);
        scale.set(-1.0f);
        Buffer<float> second = f.realize({8});
        CHECK(second(2) == 1.0f - 2.0f);
    }
    TEST_CASE("sizes in braces are sizes, be they one 0") {
        Var x("x");
        Func f("f"), zero("zero");
        f(x) = x;
        zero() = 7;
        JITUserContext context;
        Buffer<int> empty = f.realize({0}), scalar = zero.realize({});
        Buffer<int> with_context = f.realize(&context, {0});
        CHECK(empty.width() == 0);
        CHECK(with_context.width() == 0);
        CHECK(scalar() == 7);
        Buffer<int> of_pipeline = Pipeline(f).realize({0});
        CHECK(of_pipeline.width() == 0);
        ImageParam im(Int(32), 1, "im");
        Func g("g");
        g(x) = im(x + 3);
        g.infer_input_bounds({0});
        CHECK(im.get().width() == 0);
    }
    TEST_CASE("a second run of the same pipeline compiles nothing") {
        Var x("x");
        Func f("cached");
        f(x) = x * 3;
        f.realize({4});
        auto before = driver::cache_counts();
        f.realize({9});
        CHECK(driver::cache_counts().compiled == before.compiled);
        f.vectorize(x, 4);
        f.realize({9});
        CHECK(driver::cache_counts().compiled == before.compiled + 1);
    }
    TEST_CASE("compile_jit compiles what the next run needs") {
        Var x("x");
        Func f("ahead");
        f(x) = x * 7;
        auto before = driver::cache_counts();
        SUBCASE("of a Func") { f.compile_jit(); }
        SUBCASE("of a Pipeline") { Pipeline(f).compile_jit(); }
        CHECK(driver::cache_counts().compiled == before.compiled + 1);
        Buffer<int> b = f.realize({4});
        CHECK(driver::cache_counts().compiled == before.compiled + 1);
        CHECK(b(3) == 21);
        JITSharedRuntime::release_all();
    }
    TEST_CASE("device_sync of a Realization asks for each of its Buffers") {
        Buffer<int> a(3), b(3);
        Realization r(a, b);
        CHECK(r.device_sync() == 0);
        static int errors;
        errors = 0;
        auto before = tessera_set_error_handler([](void *, const char *) { errors++; });
        b.raw_buffer()->device = 1;  // of no device that is known
        CHECK_THROWS_AS(r.device_sync(), RuntimeError);
        b.raw_buffer()->device = 0;
        tessera_set_error_handler(before);
        CHECK(errors == 1);
    }
    TEST_CASE("an equal pipeline, built again, is found in the cache") {
        auto build = [] {
            Var x("x");
            Func g("g"), f("twice_the_same");
            g(x) = x * 5;
            f(x) = g(x) + g(x + 1);
            g.compute_root();
            return f;
        };
        Buffer<int> first = build().realize({4});
        auto before = driver::cache_counts();
        Buffer<int> second = build().realize({4});
        CHECK(driver::cache_counts().compiled == before.compiled);
        CHECK(second(3) == first(3));
    }
    TEST_CASE("the cache counts the bytes of machine code") {
        // In vectors, sin is called for each lane: as many statements, and more code.
        const auto bytes_with = [](int lanes) {
            Var x("x");
            Func f("of_lanes");
            f(x) = sin(cast<float>(x));
            JITSharedRuntime::release_all();
            CHECK(driver::cache_counts().bytes == 0);
            f.vectorize(x, lanes).compile_jit();
            return driver::cache_counts().bytes;
        };
        const uint64_t few = bytes_with(8), many = bytes_with(64);
        CHECK(few > 0);
        CHECK(many > few + 56 * 5);  // a call has at least five bytes
        JITSharedRuntime::release_all();
    }
    TEST_CASE("the bounds of inputs are inferred") {
        Var x("x"), y("y");
        ImageParam im(UInt(8), 2, "im");
        Func f("f");
        f(x, y) = im(x - 1, y) + im(x + 2, y * 2);
        f.infer_input_bounds({10, 5});
        Buffer<> inferred = im.get();
        REQUIRE(inferred.defined());
        CHECK(inferred.min(0) == -1);
        CHECK(inferred.extent(0) == 13);
        CHECK(inferred.min(1) == 0);
        CHECK(inferred.extent(1) == 9);
    }
    TEST_CASE("where no input is missing, its bounds are found without computing anything") {
        Var x("x");
        Func f("f");
        f(x) = x + 1;
        Buffer<int> out(5);
        out.fill(0);
        f.infer_input_bounds(out);
        CHECK(out(3) == 0);
    }
    TEST_CASE("of an input of which a condition leaves nothing, nothing is needed") {
        Var x("x");
        ImageParam im(UInt(8), 2, "im");
        RDom r(0, 1, 3, 2, "r");
        r.where(r.y <= r.x + 1);
        Func f("f");
        f(x) = 7;
        f(x) += cast<int>(im(r.x, r.y));
        f.infer_input_bounds({5});
        CHECK(im.get().extent(1) == 0);
        CHECK(Buffer<int>(f.realize({5}))(3) == 7);
    }
    TEST_CASE("a failure is a RuntimeError with a sentence") {
        Var x("x");
        ImageParam im(Int(32), 1, "im");
        Func f("f");
        f(x) = im(x + 1);
        im.set(Buffer<int>(4));
        CHECK_THROWS_WITH_AS(f.realize({4}), doctest::Contains("im"), RuntimeError);
        im.reset();
        CHECK_THROWS_WITH_AS(f.realize({4}), doctest::Contains("has no Buffer"), RuntimeError);
    }
    TEST_CASE("a Callable takes its arguments in the order given") {
        Var x("x");
        ImageParam im(Int(32), 1, "im");
        Param<int> p("p");
        Func f("f");
        f(x) = im(x) * p;
        Callable c = f.compile_to_callable({p, im});
        Buffer<int> in(3), out(3);
        in.fill(7);
        CHECK(c(6, in, out) == 0);
        CHECK(out(2) == 42);
        CHECK_THROWS_WITH_AS(c(in, 6, out), doctest::Contains("argument 0"), RuntimeError);
        auto typed = c.make_std_function<int, Buffer<int>, Buffer<int>>();
        CHECK(typed(2, in, out) == 0);
        CHECK(out(0) == 14);
    }
    TEST_CASE("handlers of a call see what the pipeline prints") {
        static std::string printed;
        Var x("x");
        Func f("f");
        f(x) = print(x * x, "is the square of", x);
        JITUserContext context;
        context.handlers.custom_print = [](JITUserContext *, const char *s) { printed += s; };
        printed.clear();
        f.realize(&context, {3});
        CHECK(printed == "0 is the square of 0\n1 is the square of 1\n4 is the square of 2\n");
    }
    TEST_CASE("the second call compiles nothing and looks nothing up") {
        Var x("x");
        Func f("f"), g("g"), h("h");
        LoopLevel place;
        f(x) = x;
        g(x) = f(x) + f(x + 1);
        h(x) = g(x);
        f.compute_at(place);
        g.compute_root();
        place.set(LoopLevel(h, x));
        Buffer<int> out(4);
        f.compute_root();
        h.realize(out);
        auto before = driver::cache_counts();
        h.realize(out);
        CHECK(driver::cache_counts().compiled == before.compiled);
        CHECK(driver::cache_counts().found == before.found);
        CHECK(out(3) == 7);
    }
    TEST_CASE("whatever changes the code is noticed by the next call") {
        Var x("x"), yo("yo"), yi("yi");
        Func f("f"), g("g"), h("h");
        ImageParam im(Int(32), 1, "im");
        Param<int> p("p");
        RDom r(0, 4, "r");
        LoopLevel place = LoopLevel::root();
        f(x) = im(x) + p;
        g(x) = f(x);
        g(x) += f(x + r);
        h(x) = g(x);
        Pipeline pipeline(h);
        const std::pair<const char *, std::function<void()>> changes[] = {
            {"set_extent", [&] { im.dim(0).set_extent(8); }},
            {"set_extent of nothing", [&] { im.dim(0).set_extent(Expr()); }},
            {"set_min", [&] { im.dim(0).set_min(0); }},
            {"set_stride", [&] { im.dim(0).set_stride(Expr()); }},
            {"set_host_alignment", [&] { im.set_host_alignment(16); }},
            {"output_buffer", [&] { h.output_buffer().dim(0).set_min(0); }},
            {"set_range", [&] { p.set_range(0, 9); }},
            {"compute_at", [&] { f.compute_at(place); }},
            {"LoopLevel::set", [&] { place.set(LoopLevel::inlined()); }},
            {"compute_root", [&] { g.compute_root(); }},
            {"store_in", [&] { g.store_in(MemoryType::Heap); }},
            {"split", [&] { h.split(x, yo, yi, 4); }},
            {"update", [&] { g.update().unroll(r); }},
            {"specialize", [&] { h.specialize(p > 3).parallel(yo); }},
            {"wrapper", [&] { g.in(h).compute_root(); }},
            {"trace_stores", [&] { f.trace_stores(); }},
            {"trace of an image", [&] { im.trace_loads(); }},
            {"requirement", [&] { pipeline.add_requirement(p < 100, "p"); }},
            {"externs", [&] { pipeline.set_jit_externs({}); }},
            {"trace_pipeline", [&] { pipeline.trace_pipeline(); }},
        };
        for (const auto &[name, change] : changes) {
            CAPTURE(name);
            pipeline.compile_jit();
            const uint64_t before = times_compiled_or_found();
            change();
            pipeline.compile_jit();
            CHECK(times_compiled_or_found() > before);
        }
        const uint64_t before = times_compiled_or_found();
        p.set(3);
        p.set_estimate(4);
        im.set(Buffer<int>(9));
        pipeline.compile_jit();
        CHECK(times_compiled_or_found() == before);
    }
    TEST_CASE("a schedule that is read is noticed by the next call") {
        Var x("x");
        Func first("k"), second("k");
        first(x) = x;
        second(x) = x;
        second.compile_jit();
        const uint64_t before = times_compiled_or_found();
        second.apply_schedule(first.vectorize(x, 4).schedule_as_json());
        second.compile_jit();
        CHECK(times_compiled_or_found() > before);
    }
    TEST_CASE("what changes elsewhere is nothing to a pipeline") {
        Var x("x");
        Func f("f"), other("other");
        f(x) = x;
        other(x) = x + 1;
        Buffer<int> out(4);
        f.realize(out);
        const uint64_t before = times_compiled_or_found();
        other.vectorize(x, 4);
        Param<int>("q").set_range(0, 3);
        LoopLevel().set(LoopLevel::root());
        f.realize(out);
        CHECK(times_compiled_or_found() == before);
    }
}

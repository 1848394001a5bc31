#include "harness.h"
#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include <tessera.h>

using namespace tessera;
using namespace tessera::test;

extern "C" int tessera_test_add_one(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        in->dim[0].min = out->dim[0].min;
        in->dim[0].extent = out->dim[0].extent;
        return 0;
    }
    const auto *from = reinterpret_cast<const int *>(in->host);
    auto *to = reinterpret_cast<int *>(out->host);
    for (int i = 0; i < out->dim[0].extent; i++) {
        int x = out->dim[0].min + i;
        to[i * out->dim[0].stride] = from[(x - in->dim[0].min) * in->dim[0].stride] + 1;
    }
    return 0;
}

// Programs on which the fuzzer has found wrong code, as small as they became.

TEST_CASE("interleaved stores of an unrolled loop keep the lets of each copy apart") {
    Var x("x"), xo("xo"), xi("xi"), xoo("xoo"), xoi("xoi");
    for (int width : {1, 31, 32, 37, 100}) {
        Func f("f");
        f(x) = x * 3 + 1;
        f.split(x, xo, xi, 8, TailStrategy::PredicateStores).unroll(xi);
        f.split(xo, xoo, xoi, 4, TailStrategy::PredicateLoads).vectorize(xoi);
        Buffer<int> result = f.realize({width});
        for (int i = 0; i < width; i++) {
            CAPTURE(width);
            CAPTURE(i);
            REQUIRE(result(i) == i * 3 + 1);
        }
    }
}

TEST_CASE("a mirrored image is read within its bounds, and only there") {
    Var x("x");
    Buffer<int> image(5);
    for (int i = 0; i < 5; i++) image(i) = i;
    Func mirrored = BoundaryConditions::mirror_image(image), out("out");
    out(x) = mirrored(x);
    Buffer<int> result(13);
    result.set_min(-4);
    out.realize(result);
    const int expected[] = {3, 2, 1, 0, 0, 1, 2, 3, 4, 4, 3, 2, 1};
    for (int i = 0; i < 13; i++) CHECK(result(i - 4) == expected[i]);
}

TEST_CASE(
    "images repeated and mirrored need no more than themselves, with a reduction's variable") {
    Var x("x");
    Buffer<int> image(5);
    for (int i = 0; i < 5; i++) image(i) = i;
    RDom r(0, 2);
    Func sources[] = {BoundaryConditions::repeat_image(image),
                      BoundaryConditions::mirror_image(image),
                      BoundaryConditions::mirror_interior(image)};
    const int expected[] = {4 + 0, 0 + 0, 1 + 0};
    for (int s = 0; s < 3; s++) {
        Func out("out");
        out(x) = sum(r, sources[s](x + r));
        Buffer<int> result(7);
        result.set_min(-1);
        out.realize(result);
        CHECK(result(-1) == expected[s]);
        CHECK(result(2) == 2 + 3);
    }
}

TEST_CASE("an extern stage without a schedule reads a buffer from within its consumer's loops") {
    Var x("x"), y("y");
    Func f("f"), e("e"), g("g");
    f(x) = x * 2;
    f.compute_root();
    e.define_extern("tessera_test_add_one", {f}, Int(32), 1);
    g(x, y) = e(x) + y;
    Pipeline pipeline(g);
    pipeline.set_jit_externs({{"tessera_test_add_one", JITExtern(tessera_test_add_one)}});
    Buffer<int> result = pipeline.realize({4, 3});
    result.for_each_element([&](int i, int j) { CHECK(result(i, j) == i * 2 + 1 + j); });
}

TEST_CASE("a fused loop that is rounded up stays within the storage of a producer") {
    Var x("x"), y("y"), z("z"), t("t"), o("o"), i("i");
    for (TailStrategy tail : {TailStrategy::Auto, TailStrategy::RoundUp}) {
        Func f("f"), g("g");
        f(x, y, z) = x + 10 * y + 100 * z;
        g(x, y, z) = f(x, y, z) + f(x, y + 1, z);
        f.compute_at(g, x).fuse(y, z, t).split(t, o, i, 4, tail);
        Buffer<int> result =
            g.realize({3, 4, 5}, get_host_target().with_feature(Target::Interpret));
        result.for_each_element([&](int a, int b, int c) {
            REQUIRE(result(a, b, c) == 2 * (a + 10 * b + 100 * c) + 10);
        });
    }
}

TEST_CASE("of a tuple whose first value alone is read, both can be fetched ahead") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = Tuple(x, 2 * x);
    f.compute_root();
    g(x) = f(x)[0];
    g.prefetch(f, x, x, 3);
    Buffer<int> result = g.realize({20});
    for (int i = 0; i < 20; i++) CHECK(result(i) == i);
}

TEST_CASE("an image that no needed value reads can be empty") {
    Var x("x");
    ImageParam image(Int(32), 1, "image");
    image.dim(0).set_stride(2);
    Func f("f"), g("g");
    f(x) = Tuple(3, image(x));
    g(x) = f(x)[0];
    g.infer_input_bounds({10});
    CHECK(image.get().dim(0).extent() == 0);
    Buffer<int> result = g.realize({10});
    CHECK(result(9) == 3);
}

TEST_CASE("reductions that are computed inline may be computed within one another") {
    Var x("x");
    Buffer<int> image(40);
    for (int i = 0; i < 40; i++) image(i) = i % 7;
    RDom r(0, 2), r2(0, 2);
    Func f("f"), g("g"), h("h");
    f(x) = sum(r, image(clamp(x + r, 0, 39)));
    g(x) = f(clamp(f(x - 1), 0, 17));
    g.compute_root();
    h(x) = sum(r2, g(clamp(f(x + r2), 0, 4))) + f(x) * g(x);
    Buffer<int> result = h.realize({10});
    auto f_at = [&](int i) {
        return image(std::clamp(i, 0, 39)) + image(std::clamp(i + 1, 0, 39));
    };
    auto g_at = [&](int i) { return f_at(std::clamp(f_at(i - 1), 0, 17)); };
    for (int i = 0; i < 10; i++) {
        int sum = g_at(std::clamp(f_at(i), 0, 4)) + g_at(std::clamp(f_at(i + 1), 0, 4));
        CHECK(result(i) == sum + f_at(i) * g_at(i));
    }
}

TEST_CASE("an async producer within a function that is written in two stages") {
    Var x("x"), o("o"), i("i");
    Func f("f"), g("g"), h("h");
    f(x) = x * 3;
    g(x) = f(x - 2) + f(x + 3);
    g(x) = max(g(x), 4);
    h(x) = g(x + 2);
    g.split(x, o, i, 3, TailStrategy::RoundUp).unroll(i);
    f.compute_at(g, o).async();
    Buffer<int> result = h.realize({66});
    for (int k = 0; k < 66; k++) CHECK(result(k) == std::max(4, 6 * (k + 2) + 3));
}

TEST_CASE("regions whose extent is aligned, tile by tile, fit the storage around all tiles") {
    Var x("x"), o("o"), i("i");
    Func f("f"), g("g");
    f(x) = x * 3;
    g(x) = f(x);
    g.split(x, o, i, 3, TailStrategy::Predicate);
    f.compute_at(g, o).store_root().align_extent(x, 6);
    Buffer<int> result = g.realize({16}, get_host_target().with_feature(Target::Interpret));
    for (int k = 0; k < 16; k++) CHECK(result(k) == 3 * k);
}

TEST_CASE("what an extern stage answers to a query is read after it has answered") {
    Var x("x"), y("y");
    Func f("f"), e("e"), g("g");
    f(x) = x * 2;
    e.define_extern("tessera_test_add_one", {f}, Int(32), 1);
    g(x, y) = e(clamp(x + y, 0, 5));
    f.compute_at(g, y);
    Pipeline pipeline(g);
    pipeline.set_jit_externs({{"tessera_test_add_one", JITExtern(tessera_test_add_one)}});
    Buffer<int> result = pipeline.realize({4, 3});
    result.for_each_element([&](int i, int j) { CHECK(result(i, j) == (i + j) * 2 + 1); });
}

TEST_CASE("what a fused and rounded stage reads is known outside of its own lets") {
    Var x("x"), y("y"), o("o"), i("i"), t("t"), to("to"), ti("ti");
    Func f("f"), g("g"), h("h");
    f(x, y) = x + 10 * y;
    g(x, y) = f(0, y);
    h(x, y) = g(x, y);
    h.split(y, o, i, 8, TailStrategy::GuardWithIf);
    g.compute_at(h, o).fuse(x, y, t).split(t, to, ti, 8);
    f.compute_at(h, o);
    Buffer<int> result = h.realize({3, 11}, get_host_target().with_feature(Target::Interpret));
    result.for_each_element([&](int a, int b) { REQUIRE(result(a, b) == 10 * b); });
}

TEST_CASE("a blend may put back what has not been computed yet") {
    Var x("x"), y("y"), o("o"), i("i");
    Func f("f");
    f(x, y) = x + 10 * y;
    f.split(x, o, i, 2, TailStrategy::ShiftInwardsAndBlend).reorder(y, o, i);
    Buffer<int> result = f.realize({17, 2}, get_host_target().with_feature(Target::Interpret));
    result.for_each_element([&](int a, int b) { REQUIRE(result(a, b) == a + 10 * b); });
}

TEST_CASE("a split that divides its loop guards it still where the loop over tiles runs on") {
    Var x("x"), y("y"), o("o"), i("i"), oo("oo"), oi("oi");
    for (TailStrategy tail : {TailStrategy::ShiftInwards, TailStrategy::GuardWithIf}) {
        Func f("f"), g("g");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x, y - 2) + f(x, y + 3);
        f.compute_at(g, y).split(y, o, i, 3, tail).split(o, oo, oi, 8);
        Buffer<int> result = g.realize({3, 4}, get_host_target().with_feature(Target::Interpret));
        result.for_each_element(
            [&](int a, int b) { REQUIRE(result(a, b) == 2 * a + 20 * b + 10); });
    }
}

TEST_CASE("a ring buffer around the specializations of its consumer") {
    Var x("x"), y("y");
    Param<int> p("p");
    Func f("f"), g("g");
    f(x, y) = x + 10 * y;
    g(x, y) = f(x, y) + f(x + 1, y);
    g.specialize(p > 3);
    f.compute_at(g, y).hoist_storage_root().ring_buffer(2);
    for (int value : {1, 5}) {
        p.set(value);
        Buffer<int> result = g.realize({4, 5}, get_host_target().with_feature(Target::Interpret));
        result.for_each_element([&](int a, int b) { REQUIRE(result(a, b) == 2 * a + 20 * b + 1); });
    }
}

TEST_CASE("an async producer of several stages does not write again what is being read") {
    Var x("x"), o("o"), i("i"), oo("oo"), oi("oi");
    Func f("f"), g("g");
    f(x) = 1;
    f(3) = 1;
    f(x) = 8;
    g(x) = f(x) + f(x + 3);
    g.split(x, o, i, 4, TailStrategy::GuardWithIf).split(o, oo, oi, 5, TailStrategy::GuardWithIf);
    f.compute_at(g, oi).store_at(g, oo).async();
    Buffer<int> result = g.realize({33}, get_host_target().with_feature(Target::Interpret));
    for (int k = 0; k < 33; k++) CHECK(result(k) == 16);
}

TEST_CASE("iterations beyond a guard need nothing of what is computed in them") {
    Var x("x"), y("y"), o("o"), i("i"), io("io"), ii("ii");
    Func f("f"), g("g");
    f(x, y) = x + 10 * y;
    g(x, y) = f(x, y) + f(x + 1, y);
    g.split(y, o, i, 64, TailStrategy::GuardWithIf).split(i, io, ii, 4, TailStrategy::GuardWithIf);
    f.compute_at(g, io).store_in(MemoryType::Heap);
    Buffer<int> result = g.realize({300, 7});
    result.for_each_element([&](int a, int b) { REQUIRE(result(a, b) == 2 * a + 20 * b + 1); });
}

TEST_CASE("a loop whose first iteration slides in more is not split as if it did not") {
    Var x("x"), y("y"), strip("strip");
    for (Partition policy : {Partition::Auto, Partition::Always}) {
        Buffer<int> image(5, 40);
        image.for_each_element([&](int i, int j) { image(i, j) = i + 10 * j; });
        Func in = BoundaryConditions::repeat_edge(image), f("f"), g("g");
        f(x, y) = in(x, y) * 2;
        g(x, y) = f(x, y - 3) + f(x, y + 3);
        g.split(y, strip, y, 16, TailStrategy::GuardWithIf).partition(strip, policy);
        f.store_at(g, strip).compute_at(g, y);
        Buffer<int> result = g.realize({5, 40}, get_host_target().with_feature(Target::Interpret));
        result.for_each_element([&](int i, int j) {
            REQUIRE(result(i, j) == 4 * i + 20 * (std::max(j - 3, 0) + std::min(j + 3, 39)));
        });
    }
}

TEST_CASE("small elements are loaded by stages that stream their loads") {
    Var x("x");
    for (int lanes : {1, 8, 32}) {
        Buffer<int8_t> bytes(64);
        Buffer<uint16_t> words(64);
        bytes.for_each_element([&](int i) { bytes(i) = int8_t(i - 30), words(i) = uint16_t(i); });
        Func f("f");
        f(x) = cast<int>(bytes(x)) * words(63 - x);
        f.stream_loads().vectorize(x, lanes);
        Buffer<int> result = f.realize({64});
        for (int i = 0; i < 64; i++) REQUIRE(result(i) == (i - 30) * (63 - i));
    }
}

TEST_CASE("the loads of what an extern stage computes and reads are traced") {
    Var x("x");
    Func f("f"), e("e"), g("g");
    f(x) = x * 2;
    f.compute_root().trace_loads();
    e.define_extern("tessera_test_add_one", {f}, Int(32), 1);
    e.compute_root().trace_loads();
    g(x) = e(x);
    Pipeline pipeline(g);
    pipeline.set_jit_externs({{"tessera_test_add_one", JITExtern(tessera_test_add_one)}});
    static int loads = 0;
    pipeline.jit_handlers().custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
        loads += e->event == tessera_trace_load;
        return 1;
    };
    Buffer<int> result = pipeline.realize({5});
    for (int i = 0; i < 5; i++) CHECK(result(i) == 2 * i + 1);
    CHECK(loads == 5);
}

TEST_CASE("a prefetch of what lies in a ring buffer") {
    Var x("x"), y("y");
    for (PrefetchBoundStrategy strategy :
         {PrefetchBoundStrategy::Clamp, PrefetchBoundStrategy::GuardWithIf}) {
        Func f("f"), g("g");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x, y) + f(x + 1, y);
        g.prefetch(f, y, y, 2, strategy).prefetch(f, x, y, 1, strategy);
        f.compute_at(g, y).hoist_storage_root().ring_buffer(2);
        Buffer<int> result = g.realize(
            {4, 5}, get_host_target().with_feature(Target::Interpret).with_feature(Target::Debug));
        result.for_each_element([&](int a, int b) { REQUIRE(result(a, b) == 2 * a + 20 * b + 1); });
    }
}

TEST_CASE("what a bounds query in a loop finds is rounded up before the loop, too") {
    Var x("x"), xo("xo"), xi("xi"), o("o"), i("i");
    ImageParam in(Int(32), 1, "in");
    Func f("f"), e("e"), g("g"), h("h");
    f(x) = in(x) * 2;
    e.define_extern("tessera_test_add_one", {f}, Int(32), 1);
    g(x) = 0;
    g(x) = e(x);
    h(x) = g(x);
    h.split(x, xo, xi, 8, TailStrategy::GuardWithIf);
    f.compute_at(h, xo).split(x, o, i, 16, TailStrategy::ShiftInwards);
    Pipeline pipeline(h);
    pipeline.set_jit_externs({{"tessera_test_add_one", JITExtern(tessera_test_add_one)}});
    Buffer<int> result(20);
    pipeline.infer_input_bounds(result);
    Buffer<int> image = in.get();
    CHECK(image.dim(0).min() == 0);
    CHECK(image.dim(0).extent() >= 16 + 16);
    image.for_each_element([&](int k) { image(k) = k; });
    pipeline.realize(result);
    for (int k = 0; k < 20; k++) CHECK(result(k) == 2 * k + 1);
}

TEST_CASE("the realizations of what consumes an asynchronous producer are traced once") {
    Var x("x"), o("o"), i("i");
    Func f("f"), g("g"), h("h");
    f(x) = x;
    g(x) = f(x) * 2;
    h(x) = g(x) + 1;
    g.compute_root().split(x, o, i, 4).trace_realizations();
    f.compute_at(g, o).store_root().async();
    static int begun = 0;
    h.jit_handlers().custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
        begun += e->event == tessera_trace_begin_realization;
        return 1;
    };
    Buffer<int> result = h.realize({20});
    for (int k = 0; k < 20; k++) CHECK(result(k) == 2 * k + 1);
    CHECK(begun == 1);
}

TEST_CASE("an extent aligned within a fused loop asks for no more than the rounding") {
    Var x("x"), y("y"), t("t"), o("o"), i("i");
    ImageParam in(Int(32), 2, "in");
    Func f("f"), g("g");
    f(x, y) = in(x, y) + 1;
    g(x, y) = f(x, y);
    g.fuse(x, y, t).split(t, o, i, 3, TailStrategy::GuardWithIf);
    f.compute_at(g, o).align_extent(y, 8);
    g.infer_input_bounds({16, 36});
    Buffer<int> image = in.get();
    CHECK(image.dim(0).extent() == 16);
    CHECK(image.dim(1).min() == 0);
    CHECK(image.dim(1).extent() <= 36 + 7);
}

TEST_CASE("what fits into an integer is bounded by floats that do not") {
    Var x("x");
    Buffer<uint32_t> image(18);
    image.for_each_element([&](int i) { image(i) = uint32_t(10 * i); });
    Func f("f"), g("g"), h("h");
    RDom r(0, 3, "r");
    f(x) = cast<float>(image(x));
    g(x) = x + 1;
    h(x) = 0;
    h(x) += g(clamp(cast<int>(f(r)), 0, 20));
    g.compute_root();
    Buffer<int> sum = h.realize({1});
    CHECK(sum(0) == 1 + 11 + 21);
    Param<float> scale("scale");
    Func k("k");
    k(x) = 0;
    k(x) += g(clamp(cast<int>(f(r) * scale), 0, 20));
    scale.set(2);
    Buffer<int> result = k.realize({1});
    CHECK(result(0) == 1 + 21 + 21);
}

TEST_CASE("random numbers that depend on random numbers are simplified in linear time") {
    Var x("x"), y("y"), o("o"), i("i");
    Func f("f"), g("g"), h("h");
    auto index = [](const Expr &e) { return clamp(cast<int>(e % cast<uint32_t>(1024)), 0, 17); };
    f(x, y) = random_uint(3);
    Expr e = f(8 - x, 19 - y);
    for (int k = 0; k < 4; k++) e = f(index(e), y + k);
    g(x, y) = e;
    h(x, y) = g(x, y);
    g.compute_at(h, y).split(x, o, i, 8, TailStrategy::ShiftInwards).vectorize(i);
    Buffer<uint32_t> fast = h.realize({9, 2});
    Func plain("plain");
    plain(x, y) = e;
    Buffer<uint32_t> slow = plain.realize({9, 2});
    fast.for_each_element([&](int a, int b) { CHECK(fast(a, b) == slow(a, b)); });
}

TEST_CASE("a fused loop does not run where neither of its dimensions has a point to compute") {
    Var x("x"), y("y"), t("t");
    RVar o("o"), i("i"), oo("oo"), oi("oi");
    Func f("f"), g("g");
    RDom r(0, 6, "r");
    f(x, y) = x + y;
    g(x) = 0;
    g(x) += f(r, r);
    g.update().split(r, o, i, 5, TailStrategy::Predicate);
    g.update().split(o, oo, oi, 4, TailStrategy::Predicate).reorder(i, x, oo, oi);
    f.compute_at(g, oi).fuse(x, y, t);
    Lowered(g).check<int>({2}, [](int) { return 30; });
}

TEST_CASE("what is stored further out has room for all that is computed where less is known") {
    Var x("x"), xo("xo"), xi("xi");
    Func in("in"), f("f"), g("g"), out("out");
    in(x) = x;
    f(x) = in(x) * 10;
    in.compute_root();
    SUBCASE("of a condition") {
        g(x) = f(select(x < 0, x + 7, x));
        out(x) = g(-2) + x;
        out(x) += 1;
        g.compute_at(out, x);
        f.compute_at(g, x).store_root();
        Lowered(out).check<int>({2}, [](int x) { return 51 + x; });
    }
    SUBCASE("of a remainder") {
        g(x) = f(x % 22);
        g.bound(x, 0, 4).split(x, xo, xi, 4);
        f.compute_at(g, xo).store_root();
        Lowered(g).check<int>({4}, [](int x) { return 10 * x; });
    }
}

TEST_CASE("the bound of a quotient of unsigned numbers is that of the number divided") {
    Var x("x");
    Func a("a"), f("f"), out("out");
    RDom r(0, 3);
    a(x) = cast<uint8_t>(x == 1);
    f(x) = a(x) / a(x + 1);  // 0 or 1: the clamp is not needed
    out(x) = 0;
    out(clamp(cast<int>(f(r)), 0, 7)) += r;
    Buffer<int> got = out.realize({8});
    CHECK(got(0) == 0 + 1 + 2);
}

TEST_CASE("what a fused loop needs of a function that is stored at the root is no larger") {
    Var x("x"), y("y"), t("t");
    Func f("f"), g("g");
    f(x, y) = x * 100 + y;
    g(x, y) = f(2 * y, x);
    g.fuse(x, y, t);
    f.compute_at(g, t).store_root().bound_storage(x, 51).bound_storage(y, 10);
    Buffer<int> out = g.realize({10, 26});
    out.for_each_element([&](int i, int j) { CHECK(out(i, j) == 200 * j + i); });
}

TEST_CASE("what is computed where a reduction's predicate cannot hold has its place in storage") {
    Var x("x");
    Func f("f"), g("g");
    RDom r(0, 5, 1, 6, "r");
    r.where(r.y < r.x);
    f(x) = 10 * x;
    g(x) = 0;
    g(x) += f(r.y) + r.x;
    f.compute_at(g, r.y).store_at(g, x);
    Buffer<int> out = g.realize({1});
    // (2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)
    CHECK(out(0) == 12 + 13 + 23 + 14 + 24 + 34);
    f.store_root();
    Buffer<int> again = g.realize({1});
    CHECK(again(0) == out(0));
}

TEST_CASE("a reduction within an update is computed where its predicate holds only") {
    Var x("x");
    Func g("g");
    Buffer<int> in(4);
    in.for_each_element([&](int i) { in(i) = 10 * i; });
    RDom r(0, 5, 0, 5, "r"), s(0, 2, "s");
    r.where(r.y < r.x - 1);
    g(x) = 0;
    g(x) += sum(s, in(r.y + s));
    Buffer<int> out = g.realize({1});
    // r.y is 0 three times, 1 twice and 2 once.
    CHECK(out(0) == 3 * 10 + 2 * 30 + 50);
}

TEST_CASE("what slides along a loop is computed where only the next iteration reads it, too") {
    Var x("x"), y("y"), o("o"), i("i");
    Func f("f"), g("g");
    f(x, y) = x + 100 * y;
    g(x, y) = f(x, y) + f(x + 3, y);
    // Blending keeps the first points of the last tile, and f's window begins there.
    g.split(x, o, i, 5, TailStrategy::ShiftInwardsAndBlend).reorder(i, y, o);
    f.compute_at(g, i).store_at(g, y);
    Buffer<int> out = g.realize({13, 10});
    out.for_each_element([&](int a, int b) { CHECK(out(a, b) == 2 * a + 3 + 200 * b); });
}

TEST_CASE("nothing slides where the row for one iteration undoes another's") {
    Var x("x"), y("y");
    Func f("f"), g("g");
    RDom r(0, 4, "r");
    f(x, y) = 1;
    f(r, y) = f(r + 1, y) + 1;  // all of x is begun anew, and finished at what is asked for only
    f(x, y) += 10 * y;
    g(x, y) = f(x, 2) + f(x, y);
    Buffer<int> expected = g.realize({8, 6});
    f.compute_at(g, x).store_root();
    Buffer<int> out = g.realize({8, 6});
    out.for_each_element([&](int a, int b) { CHECK(out(a, b) == expected(a, b)); });
}

TEST_CASE("nothing slides along a loop that moves the rows in which it would") {
    // At each x, g is computed in other rows: what a row has of the columns before it is not known.
    Var x("x"), y("y"), o("o"), i("i");
    Func f("f"), g("g"), h("h");
    f(x, y) = 3 * x + 50 * y;
    g(x, y) = f(x, y) + f(x + 2, y);
    g.compute_at(h, x);
    f.store_at(h, y);
    bool by_a_test = false;
    SUBCASE("by the loop's ends") { f.compute_at(g, y); }
    SUBCASE("by the ends of a loop around it") {
        g.split(y, o, i, 2, TailStrategy::RoundUp).reorder(x, i, o);
        f.compute_at(g, i);
    }
    SUBCASE("by a test in the loop") {
        by_a_test = true;
        g.split(y, o, i, 4, TailStrategy::GuardWithIf).reorder(x, i, o);
        f.compute_at(g, i);
    }
    h(x, y) = g(x, y) + g(x, by_a_test ? y + x % 4 : 4 - x);
    Buffer<int> out = h.realize({9, 5});
    auto g_at = [](int a, int b) { return 6 * a + 6 + 100 * b; };
    out.for_each_element([&](int a, int b) {
        CHECK(out(a, b) == g_at(a, b) + g_at(a, by_a_test ? b + a % 4 : 4 - a));
    });
}

TEST_CASE("nothing slides along a loop that leaves out some iterations in between") {
    Var x("x"), y("y"), yo("yo"), yi("yi"), t("t");
    Func f("f"), g("g"), h("h");
    SUBCASE("the tail of a dimension that is fused with it") {
        f(x) = 10 * x;
        g(x, y) = f(4 * x + y % 4) + f(4 * x + y % 4 + 1);
        g.bound(x, 0, 8).bound(y, 0, 6);
        g.split(y, yo, yi, 4, TailStrategy::GuardWithIf).reorder(yi, x, yo).fuse(yi, x, t);
        f.store_at(g, yo).compute_at(g, t);
        Buffer<int> out = g.realize({8, 6});
        out.for_each_element([&](int a, int b) { CHECK(out(a, b) == 20 * (4 * a + b % 4) + 10); });
    }
    SUBCASE("a loop further in that is empty") {
        RDom r(0, 4, 0, 9, "r");
        r.where(r.x < r.y % 4);
        f(x) = 10 * x;
        g(x, y) = f(x) + f(x + 1) + y;
        h() = 0;
        h() += g(r.y, r.x);
        g.compute_at(h, r.y);
        f.store_root().compute_at(g, y);
        int expected = 0;
        for (int b = 0; b < 9; b++) {
            for (int a = 0; a < b % 4; a++) expected += 20 * b + 10 + a;
        }
        Buffer<int> out = h.realize();
        CHECK(out() == expected);
    }
}

TEST_CASE("storage for all runs of a fused loop that is rounded up is as large as one needs") {
    // Not as the product of the dimensions: that was 20 GB.
    Var x("x"), y("y"), z("z"), t("t"), o("o"), i("i"), j("j");
    Func f("f"), g("g");
    f(x, y, z) = x + 10 * y + 100 * z;
    g(x, y) = f(y - 1, (y + 1) / 2, 3) + f(x + 3, y - 2, 1) + f(x - 3, y, x - 2);
    g.fuse(x, y, t).split(t, o, i, 4, TailStrategy::GuardWithIf);
    f.compute_at(g, o).hoist_storage_root().ring_buffer(2);
    f.fuse(x, y, t).fuse(t, z, t).split(t, o, i, 3, TailStrategy::ShiftInwards);
    f.split(o, o, j, 5, TailStrategy::RoundUp);
    Buffer<int> out = g.realize({60, 50});
    out.for_each_element([&](int a, int b) {
        auto f_at = [](int p, int q, int r) { return p + 10 * q + 100 * r; };
        int expected = f_at(b - 1, (b + 1) / 2, 3) + f_at(a + 3, b - 2, 1) + f_at(a - 3, b, a - 2);
        CHECK(out(a, b) == expected);
    });
}

TEST_CASE("values near the ends of their type are compared, divided and reduced as written") {
    Var x("x");
    const int largest = std::numeric_limits<int>::max();
    Buffer<int> a(2), b(2);
    a(0) = 5, a(1) = 7 - largest;
    b(0) = largest, b(1) = largest - 7;
    Func f("f");
    f(x) = Tuple(select(a(x) - 3 < b(x), 1, 0), select(b(x) == a(x) - 3, 1, 0), (b(x) / 2 + 1) / 3,
                 (b(x) % 1000 + b(0) % 1000 + a(x) % 1000) % 1000);
    Realization r = f.realize({2});
    Buffer<int> less = r[0], equal = r[1], quotient = r[2], rest = r[3];
    for (int i : {0, 1}) {
        CHECK(less(i) == 1);
        CHECK(equal(i) == 0);
        CHECK(quotient(i) == (b(i) / 2 + 1) / 3);
    }
    CHECK(rest(0) == (647 + 647 + 5) % 1000);
    CHECK(rest(1) == (640 + 647 + 360) % 1000);  // Euclidean, of a negative number
}

TEST_CASE("what is rounded up for a part that slides ends later than for the whole") {
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    Func g("g"), h("h"), out("out");
    g(x) = in(x) * 2;
    h(x) = g(x);
    out(x) = h(x - 1) + h(x + 1);
    g.compute_at(out, x);
    h.compute_at(out, x).store_root();
    SUBCASE("by a split") { g.split(x, x, Var("i"), 16, TailStrategy::RoundUp); }
    SUBCASE("by its alignment") { g.align_extent(x, 16); }
    out.infer_input_bounds({4});
    CHECK(in.get().min(0) == -1);
    CHECK(in.get().dim(0).max() >= 4 + 15);  // the last run of g is for h(4) alone
    CHECK(in.get().dim(0).max() <= 4 + 16);
}

TEST_CASE("what constants decide further out is computed nevertheless further in") {
    // Outside, r tells that no x is within the bounds; where f is computed, x may be anything.
    Var x("x"), y("y"), o("o"), i("i");
    Param<int> p("p");
    ImageParam in(Int(32), 2, "in");
    Func f("f"), repeated("repeated"), sum("sum");
    f(x, y) = in(x, y);
    f(x, y) = 1;
    repeated(x, y) = BoundaryConditions::repeat_image(f, {{0, 12}, {0, 12}})(x, y);
    RDom r(-3, 2, "r");
    sum(x, y) = 0;
    sum(x, y) += repeated(r, y);
    repeated.compute_at(sum, r);
    SUBCASE("") {}
    SUBCASE("within the test of another dimension's tail") {
        repeated.split(y, o, i, 5, TailStrategy::Predicate);
    }
    SUBCASE("within the test of its own tail") {
        repeated.split(x, o, i, 4, TailStrategy::GuardWithIf);
    }
    SUBCASE("rounded up where a parameter says so") {
        repeated.specialize(p > -3);
        repeated.specialize(p > 2).split(x, o, i, 2);
    }
    for (int value : {-5, 0, 3}) {
        p.set(value);
        in.reset();
        sum.infer_input_bounds({3, 4});
        // The interpreter finds accesses outside of the buffer.
        Buffer<int> out = sum.realize({3, 4}, get_host_target().with_feature(Target::Interpret));
        CHECK(out(2, 3) == 2);
        CHECK(in.get().dim(0).extent() <= 12);
    }
}

TEST_CASE(
    "what is rounded up for each point is not asked for as if it were rounded up for a tile") {
    // Each point of g needs f in [y - 2, y + 5], though 6 points rounded up to 8; of the 9 points
    // of a tile, that is not 16.
    Var x("x"), y("y"), t("t"), o("o"), i("i");
    RDom r(0, 10, "r");
    Func in("in"), copy("copy"), f("f"), g("g");
    in(x, y) = x + 100 * y;
    copy(x, y) = in(x, y);
    f(x, y) = copy(x, y);
    f(r, y) = f(r, y) + 1;
    g(x, y) = f(x, y + 3) - f(x, y - 2);
    g.fuse(x, y, t).split(t, o, i, 64, TailStrategy::GuardWithIf);
    f.update(0).split(y, Var("fo"), Var("fi"), 8, TailStrategy::RoundUpAndBlend);
    copy.compute_at(g, o);
    in.compute_root();
    // The interpreter finds accesses outside of the storage of `in`.
    Buffer<int> out = g.realize({11, 9}, get_host_target().with_feature(Target::Interpret));
    CHECK(out(10, 8) == 500);
}

TEST_CASE("a producer at a loop of two updates, of which one does not read it") {
    Var x("x");
    RDom r(0, 8, "r");
    r.where(r.x * r.x < 20);
    Func f("f"), g("g");
    f(x) = x * 2;
    g(x) = 0;
    g(x) += r;
    g(x) += f(x + r);
    f.compute_at(g, r);
    Buffer<int> out = g.realize({3});
    for (int i = 0; i < 3; i++) CHECK(out(i) == 10 + 2 * (5 * i + 10));
}

TEST_CASE("what is computed for each value of a domain that is empty has its storage") {
    Var x("x"), y("y");
    RDom r(0, 1, 0, 1, "r");
    r.where(r.y < r.x);
    Func f("f"), g("g"), h("h");
    f(x, y) = x + 10 * y;
    g(x, y) = f(x, y) + 1;
    h(x, y) = 1;
    h(x, y) += g(x + r.x, r.y);
    g.compute_at(h, r.y);
    f.compute_at(g, y).store_at(h, x);
    Lowered(h).check<int>({2, 1}, [](int, int) { return 1; });
}

TEST_CASE(
    "an asynchronous half holds what a shared expression reads, for each that it is part of") {
    Var x("x"), y("y"), xo("xo"), xi("xi");
    RDom r(0, 1, 0, 1, "r");
    Func f("f"), g("g"), h("h");
    f(x, y) = Tuple(cast<double>(1 < minimum(r, cast<uint16_t>(1))), 1);
    g(x, y) = f(x, y)[1] * 2;
    h(x, y) = g(x, y);
    h.split(x, xo, xi, 3, TailStrategy::ShiftInwards);
    g.compute_at(h, xo).hoist_storage_root().ring_buffer(2).async();
    f.compute_at(h, xo);
    Lowered(h).check<int>({6, 1}, [](int, int) { return 2; });
}

TEST_CASE("storage holds what a fused loop that is rounded further in asks for") {
    Var x("x"), y("y"), z("z"), yo("yo"), yi("yi"), t("t"), u("u"), uo("uo"), ui("ui");
    RVar ro("ro"), ri("ri");
    Func f("f"), g("g"), h("h");
    f(x, y, z) = x + y + z;
    g(x, y, z) = f(6, z, (z - 1) / 2) + f(clamp(x, 0, 15), y - 1, z - 2);
    RDom r(0, 2, 0, 5, "r");
    r.where(r.x == r.y + 2);
    h(x, y, z) = 1;
    h(x, y, z) += g(r.x, y + 3, r.y) + g(x + 3, y - 2 + r.x, z + 2 + r.y);
    h.update().split(r.x, ro, ri, 8, TailStrategy::GuardWithIf);
    g.compute_at(h, ri);
    g.split(y, yo, yi, 8, TailStrategy::GuardWithIf).fuse(yi, yo, t).fuse(t, z, u);
    g.split(u, uo, ui, 3, TailStrategy::RoundUp);
    f.compute_at(h, ro).store_at(h, r.y);
    // The interpreter finds accesses outside of the storage of f.
    Buffer<int> out({8, 6, 11});
    out.set_min(0, 0, 4);
    h.realize(out, get_host_target().with_feature(Target::Interpret));
    CHECK(out(2, 0, 5) == 1);
}

TEST_CASE("coordinates that a large number brings near 0 may pass 2^31 on their way") {
    const int far = 1073741324;
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = cast<uint16_t>(x + y);
    g(x, y) = f(x - far, y) + f((x - far) * 2, y + 1);
    f.compute_root();
    Buffer<uint16_t> out(32, 15);
    out.set_min(far, 0);
    g.realize(out);
    for (int j = 0; j < 15; j++) {
        for (int i = 0; i < 32; i++) CHECK(int(out(far + i, j)) == 3 * i + 2 * j + 1);
    }
}

TEST_CASE("an asynchronous stage whose accesses are traced waits for room in its folded storage") {
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = x;
    g(x, y) = f(x, y);
    g.reorder(y, x);
    f.compute_at(g, y).store_root().async().trace_stores();
    g.jit_handlers().custom_trace = [](JITUserContext *, const tessera_trace_event_t *) {
        return 0;
    };
    for (const Target &t : {get_host_target(), get_host_target().with_feature(Target::Interpret)}) {
        Buffer<int> out = g.realize({8, 2}, t);
        out.for_each_element([&](int i, int j) { CHECK(out(i, j) == i); });
    }
}

TEST_CASE("what a predicate leaves is computed wherever it is not known further in which it is") {
    Var x("x");
    RDom s(0, 1, "s"), r(0, 1, 0, 2, "r");
    r.where(r.x * 3 < r.y);
    ImageParam in(Int(32), 1, "in");
    Func f("f"), mirrored("mirrored"), selected("selected");
    f(x) = minimum(s, in(x));
    Func around = BoundaryConditions::mirror_interior(f, {{0, 12}});
    mirrored(x) = 1;
    mirrored(0) = around(r.x);
    selected(x) = 1;
    selected(0) = f(select(r.x >= 0, r.x, r.x + 5));
    for (Func g : {mirrored, selected}) {
        in.reset();
        g.infer_input_bounds({3});
        Buffer<int> image = in.get();
        image.for_each_element([&](int i) { image(i) = 10 + i; });
        Buffer<int> out = g.realize({3});
        CHECK(out(0) == 10);
        CHECK(out(1) == 1);
        Buffer<int> again = g.realize({3}, get_host_target().with_feature(Target::Interpret));
        CHECK(again(0) == 10);
    }
}

TEST_CASE("hoisted storage is as large as it needs to be where an index has a far lower end") {
    Var x("x"), outer("outer"), o("o"), i("i");
    for (int lowest : {INT32_MIN, INT32_MIN + 1}) {
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(max(x, lowest) - 3) + f(max(x, lowest));
        g.split(x, o, i, 8, TailStrategy::PredicateStores).split(o, outer, o, 8);
        g.reorder(i, outer, o);
        f.compute_at(g, o).hoist_storage_root();
        Buffer<int> out(137);
        out.set_min(9);
        g.realize(out);
        out.for_each_element([&](int at) { CHECK(out(at) == 2 * at - 3); });
    }
}

#include "error/refusal.h"
#include "harness.h"
#include <algorithm>

using namespace tessera;
using namespace tessera::test;

namespace {
std::atomic<int> queries{0};
}

// out(x, y) = in(x, y) + in(x + 1, y)
extern "C" inline int add_right(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        queries++;
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min;
            in->dim[d].extent = out->dim[d].extent + (d == 0);
        }
        return 0;
    }
    auto at = [](tessera_buffer_t *b, int x, int y) -> int & {
        return reinterpret_cast<int *>(b->host)[(x - b->dim[0].min) * b->dim[0].stride +
                                                (y - b->dim[1].min) * b->dim[1].stride];
    };
    for (int y = out->dim[1].min; y < out->dim[1].min + out->dim[1].extent; y++) {
        for (int x = out->dim[0].min; x < out->dim[0].min + out->dim[0].extent; x++) {
            at(out, x, y) = at(in, x, y) + at(in, x + 1, y);
        }
    }
    return 0;
}
extern "C" inline int fill_two(int value, tessera_buffer_t *a, tessera_buffer_t *b) {
    for (int i = 0; i < a->dim[0].extent; i++) {
        reinterpret_cast<int *>(a->host)[i * a->dim[0].stride] = value + a->dim[0].min + i;
        reinterpret_cast<float *>(b->host)[i * b->dim[0].stride] = float(value);
    }
    return 0;
}
// out(x) = table(x + offset) * factor
extern "C" inline int scaled_table(tessera_buffer_t *table, float factor, int offset,
                                   tessera_buffer_t *out) {
    if (!table->host) return 0;
    Buffer<float> from(*table), to(*out);
    for (int i : to.dim(0)) to(i) = from(i + offset) * factor;
    return 0;
}
// out(x) = a(x) + b(x)
extern "C" inline int add_both(tessera_buffer_t *a, tessera_buffer_t *b, tessera_buffer_t *out) {
    if (!a->host || !b->host) {
        for (tessera_buffer_t *in : {a, b}) in->dim[0] = out->dim[0];
        return 0;
    }
    Buffer<int> first(*a), second(*b), to(*out);
    for (int i : to.dim(0)) to(i) = first(i) + second(i);
    return 0;
}
// out(x, y) = in(x, y) + 1, in whole tiles of 4 x 2.
extern "C" inline int tiles_plus_one(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        const int sizes[] = {4, 2};
        for (int d = 0; d < 2; d++) {
            int first = out->dim[d].min, end = first + out->dim[d].extent;
            first &= -sizes[d];
            end = (end + sizes[d] - 1) & -sizes[d];
            in->dim[d].min = out->dim[d].min = first;
            in->dim[d].extent = out->dim[d].extent = end - first;
        }
        return 0;
    }
    Buffer<int> from(*in), to(*out);
    if (to.min(0) % 4 || to.extent(0) % 4 || to.min(1) % 2 || to.extent(1) % 2) return 7;
    to.for_each_element([&](int x, int y) { to(x, y) = from(x, y) + 1; });
    return 0;
}
// out(x) = in(x) + 1, of one more at each end than it is asked for, whatever that is.
extern "C" inline int padded_plus_one(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        out->dim[0].min--;
        out->dim[0].extent += 2;
        in->dim[0].min = out->dim[0].min;
        in->dim[0].extent = out->dim[0].extent;
        return 0;
    }
    Buffer<int> from(*in), to(*out);
    for (int i : to.dim(0)) to(i) = from(i) + 1;
    return 0;
}
// out(x) = in(x): reads ten more at each end where it is asked for a part.
extern "C" inline int reads_more_for_parts(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        const int more = out->dim[0].extent < 8 ? 10 : 0;
        in->dim[0].min = out->dim[0].min - more;
        in->dim[0].extent = out->dim[0].extent + 2 * more;
        return 0;
    }
    Buffer<int> from(*in), to(*out);
    for (int i : to.dim(0)) to(i) = from(i);
    return 0;
}
// out(x, y) = in(x, y) from row 4 on, and -1 before, where it asks for nothing.
extern "C" inline int some_rows(tessera_buffer_t *in, tessera_buffer_t *out) {
    const int first = std::max(out->dim[1].min, 4), end = out->dim[1].min + out->dim[1].extent;
    if (!in->host) {
        if (first >= end) return 0;
        in->dim[0] = out->dim[0];
        in->dim[1].min = first;
        in->dim[1].extent = end - first;
        return 0;
    }
    Buffer<int> from(*in), to(*out);
    to.for_each_element([&](int x, int y) { to(x, y) = y < 4 ? -1 : from(x, y); });
    return 0;
}
// out(x) = in(x) + 1, not known by its name.
extern "C" inline int tessera_test_add_one(tessera_buffer_t *in, tessera_buffer_t *out) {
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
extern "C" inline int always_fails(tessera_buffer_t *) { return 42; }
[[maybe_unused]] static const bool registered =
    detail::register_extern("add_right", reinterpret_cast<void *>(&add_right)) &&
    detail::register_extern("fill_two", reinterpret_cast<void *>(&fill_two)) &&
    detail::register_extern("scaled_table", reinterpret_cast<void *>(&scaled_table)) &&
    detail::register_extern("add_both", reinterpret_cast<void *>(&add_both)) &&
    detail::register_extern("tiles_plus_one", reinterpret_cast<void *>(&tiles_plus_one)) &&
    detail::register_extern("some_rows", reinterpret_cast<void *>(&some_rows)) &&
    detail::register_extern("padded_plus_one", reinterpret_cast<void *>(&padded_plus_one)) &&
    detail::register_extern("reads_more_for_parts",
                            reinterpret_cast<void *>(&reads_more_for_parts)) &&
    detail::register_extern("always_fails", reinterpret_cast<void *>(&always_fails));

TEST_SUITE("extern stages") {
    TEST_CASE("between two Funcs, in every place") {
        for (int place = 0; place < 4; place++) {
            CAPTURE(place);
            Var x("x"), y("y"), xi("xi"), yi("yi");
            Func f("f"), e("e"), out("out");
            f(x, y) = x * 3 + y;
            e.define_extern("add_right", {f}, Int(32), {x, y});
            out(x, y) = e(x, y) * 2 + e(x, y + 1);
            if (place == 0) f.compute_root(), e.compute_root();
            if (place == 1) f.compute_at(out, y), e.compute_at(out, y);
            if (place == 2) f.compute_root(), e.store_root().compute_at(out, y);
            if (place == 3) {
                out.tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf);
                e.compute_at(out, x);
                f.store_root().compute_at(out, y);
            }
            Lowered l(out);
            auto er = [](int x, int y) { return 6 * x + 3 + 2 * y; };
            queries = 0;
            for (int size : {1, 7, 9}) {
                l.check<int>({size, 5}, [&](int x, int y) { return 2 * er(x, y) + er(x, y + 1); });
            }
            CHECK(queries > 0);
        }
    }
    TEST_CASE("one reads another that slides, as far as can be known") {
        for (int place = 0; place < 5; place++) {
            CAPTURE(place);
            Var x("x"), y("y"), xo("xo"), xi("xi"), t("t");
            Func f("f"), e("e"), second("second"), out("out");
            f(x, y) = x + 10 * y;
            e.define_extern("add_right", {f}, Int(32), {x, y});
            second.define_extern("add_right", {e}, Int(32), {x, y});
            out(x, y) = second(x, y) + e(x, y);
            f.compute_root();
            if (place == 0) e.compute_at(out, x).store_root();
            if (place == 1) e.compute_at(out, y).store_root();
            if (place > 1) out.split(x, xo, xi, 3, TailStrategy::GuardWithIf);
            if (place == 3) out.fuse(xo, y, t);
            if (place == 4) out.reorder(xo, xi, y);
            if (place > 1) e.compute_at(out, place == 3 ? t : xo).store_root();
            auto er = [](int x, int y) { return 2 * x + 1 + 20 * y; };
            Lowered(out).check<int>({5, 3},
                                    [&](int x, int y) { return 2 * er(x, y) + er(x + 1, y); });
        }
    }
    TEST_CASE("one that computes whole tiles, more than is read") {
        for (int place = 0; place < 5; place++) {
            CAPTURE(place);
            Var x("x"), y("y"), xi("xi"), yi("yi");
            Func f("f"), e("e"), second("second"), out("out");
            f(x, y) = x + 10 * y;
            e.define_extern("tiles_plus_one", {f}, Int(32), {x, y});
            second.define_extern("tiles_plus_one", {e}, Int(32), {x, y});
            out(x, y) = second(x, y + 1) + e(x + 1, y);
            if (place > 0) out.tile(x, y, xi, yi, 3, 3, TailStrategy::GuardWithIf);
            if (place == 0) f.compute_root(), e.compute_root(), second.compute_root();
            if (place == 1) f.compute_root(), e.compute_at(out, x), second.compute_at(out, x);
            if (place == 2) f.compute_at(out, y), e.compute_at(out, y), second.compute_at(out, x);
            if (place == 3) f.compute_root(), e.compute_root(), second.compute_at(out, xi);
            if (place == 4) {
                f.compute_at(out, x).vectorize(x, 4), e.compute_at(out, x),
                    second.compute_at(out, x);
                out.vectorize(xi, 3).parallel(y);
            }
            Lowered l(out);
            for (int size : {1, 5, 8}) {
                l.check<int>({size, 5}, [&](int x, int y) {
                    return x + 10 * (y + 1) + 2 + (x + 1) + 10 * y + 1;
                });
            }
        }
    }
    TEST_CASE("tiles that are enlarged read what is stored further out") {
        for (const char *stage : {"tiles_plus_one", "padded_plus_one"}) {
            const int dimensions = stage[0] == 't' ? 2 : 1;
            for (int place = 0; place < 4; place++) {
                CAPTURE(stage);
                CAPTURE(place);
                Var x("x"), y("y"), xi("xi");
                const std::vector<Var> vars =
                    dimensions == 2 ? std::vector<Var>{x, y} : std::vector<Var>{x};
                const std::vector<Expr> at(vars.begin(), vars.end());
                Func f("f"), e("e"), out("out");
                f(vars) = 3 * x;
                e.define_extern(stage, {f}, Int(32), vars);
                out(vars) = e(at) + 1;
                out.split(x, x, xi, 3, TailStrategy::GuardWithIf);
                if (dimensions == 2) out.reorder(xi, y, x);
                e.compute_at(out, place == 3 ? xi : x);
                if (place == 0) f.compute_root();
                if (place == 1) f.store_root().compute_at(out, x);
                if (place == 2) f.compute_at(out, x);
                if (place == 3) f.store_root().compute_at(out, xi);
                Lowered l(out);
                for (int size : {1, 7, 9}) {
                    if (dimensions == 1) l.check<int>({size}, [](int i) { return 3 * i + 2; });
                    if (dimensions == 2)
                        l.check<int>({size, 3}, [](int i, int) { return 3 * i + 2; });
                }
            }
        }
    }
    TEST_CASE("what an asynchronous producer is read by has storage in one half only") {
        Var x("x"), y("y");
        Func f("f"), e("e"), second("second"), out("out");
        f(x, y) = 3 * x + y;
        e.define_extern("add_right", {f}, Int(32), {x, y});
        second.define_extern("add_right", {e}, Int(32), {x, y});
        out(x, y) = second(x, y);
        second.compute_at(out, x);
        e.store_at(out, y).compute_at(out, x);
        f.store_at(out, y).compute_at(out, x).async();
        Lowered(out).check<int>({3, 2}, [](int i, int j) { return 4 * (3 * i + j) + 12; });
    }
    TEST_CASE("one that needs nothing of its input for some parts") {
        for (int place = 0; place < 3; place++) {
            CAPTURE(place);
            Var x("x"), y("y"), yi("yi");
            Func f("f"), e("e"), out("out");
            f(x, y) = x + 100 * y;
            e.define_extern("some_rows", {f}, Int(32), {x, y});
            out(x, y) = e(x, y);
            out.split(y, y, yi, 2).reorder(x, yi, y);
            e.compute_at(out, y);
            if (place == 0) f.compute_root();
            if (place == 1) f.store_root().compute_at(out, y);
            if (place == 2) f.compute_at(out, y);
            Lowered(out).check<int>({4, 8}, [](int i, int j) { return j < 4 ? -1 : i + 100 * j; },
                                    {10, 0});
        }
    }
    TEST_CASE("one that wants to read more for a part than for the whole") {
        Var x("x"), xi("xi");
        ImageParam image(Int(32), 1, "image");
        image.set(Buffer<int>(8));
        for (int place = 0; place < 4; place++) {
            CAPTURE(place);
            Func f("f"), e("e"), out("out");
            f(x) = 3 * x;
            const unsigned line = __LINE__ + 3;
            const ExternFuncArgument in =
                place == 3 ? ExternFuncArgument(image) : ExternFuncArgument(f);
            e.define_extern("reads_more_for_parts", {in}, Int(32), {x});
            out(x) = e(x);
            out.split(x, x, xi, 4);
            e.compute_at(out, x);
            if (place == 0) f.compute_root();
            if (place == 1) f.store_root().compute_at(out, x);
            if (place == 2) f.compute_at(out, x);
            const std::string message =
                str("extern_stage_test.cpp:", line,
                    ": The extern stage reads_more_for_parts wants to read [-10, 13] of ",
                    place == 3 ? "image" : "f",
                    " in dimension 0 for a part of what it computes, and [0, 7] is what there is");
            if (place == 2)
                Lowered(out).check<int>({8}, [](int i) { return 3 * i; });
            else
                FAILS(out.realize({8}), message.c_str());
        }
    }
    TEST_CASE("one that wants to compute more than there is storage for") {
        for (int place = 0; place < 3; place++) {
            CAPTURE(place);
            Var x("x"), y("y");
            Func f("f"), e("e"), out("out");
            f(x, y) = x + 10 * y;
            e.define_extern("tiles_plus_one", {f}, Int(32), {x, y});
            const unsigned line = __LINE__ - 1;
            out(x, y) = e(x + 1, y);
            f.compute_root();
            e.compute_at(out, y);
            if (place == 0) e.store_root();
            if (place == 1) e.hoist_storage_root();
            if (place == 2) e.store_in(MemoryType::Stack).bound_extent(x, 4).bound_extent(y, 1);
            const std::string message =
                str("extern_stage_test.cpp:", line,
                    ": The extern stage tiles_plus_one wants to compute [0, 7] of e in "
                    "dimension 0, and [1, 4] is what there is; it may compute more than that "
                    "only where e is stored on the heap at the loop where it is computed");
            FAILS(out.realize({4, 4}), message.c_str());
        }
    }
    TEST_CASE("storage outside of where an extern stage says how much it needs") {
        for (bool ring : {false, true}) {
            Var x("x"), y("y");
            Func f("f"), e("e"), g("g"), out("out");
            f(x, y) = x + y;
            e.define_extern("add_right", {f}, Int(32), {x, y});
            g(x, y) = e(x, y);
            out(x, y) = g(x, y);
            g.compute_at(out, y);
            f.compute_at(ring ? g : out, ring ? x : y);
            if (ring) f.hoist_storage(out, y);
            ring ? f.ring_buffer(4) : f.hoist_storage_root();
            REFUSED_ABOVE(Lowered(out),
                          ring ? "an extern stage reads it"
                               : "no bound is known for what an extern stage asks for");
        }
    }
    TEST_CASE("as an output, of an input image") {
        Var x("x"), y("y");
        ImageParam in(Int(32), 2, "in");
        Buffer<int> image(10, 4);
        image.for_each_element([&](int i, int j) { image(i, j) = i + 10 * j; });
        in.set(image);
        Func e("e");
        e.define_extern("add_right", {in}, Int(32), {x, y});
        Lowered(e).check<int>({9, 4}, [](int x, int y) { return 2 * x + 1 + 20 * y; });
    }
    TEST_CASE("asked what it needs of an image, wherever it is computed") {
        for (int place = 0; place < 3; place++) {
            CAPTURE(place);
            Var x("x"), y("y");
            ImageParam in(Int(32), 2, "in");
            Func e("e"), out("out");
            e.define_extern("add_right", {in}, Int(32), {x, y});
            out(x, y) = e(x, y) + e(x, y + 1) + in(x - 1, y);
            if (place == 0) e.compute_root();
            if (place > 0) e.compute_at(out, y);
            if (place == 2) e.store_root();
            Pipeline p(out);
            p.infer_input_bounds({9, 4});
            Buffer<> needed = in.get();
            CHECK(needed.dim(0).min() == -1);
            CHECK(needed.dim(0).extent() == 11);
            CHECK(needed.dim(1).extent() == 5);
            for (bool enough : {false, true}) {
                Buffer<int> image({enough ? 11 : 10, 5});
                image.set_min(-1, 0);
                image.for_each_element([&](int i, int j) { image(i, j) = i + 10 * j; });
                in.set(image);
                if (!enough) {
                    FAILS(p.realize({9, 4}), "Buffer in is too small in dimension 0: the pipeline "
                                             "touches [-1, 9], but the buffer has [-1, 8]");
                    continue;
                }
                Buffer<int> result = p.realize({9, 4});
                result.for_each_element(
                    [&](int i, int j) { CHECK(result(i, j) == 5 * i + 50 * j + 21); });
            }
        }
    }
    TEST_CASE("that says nothing of an image takes it as it is") {
        Var x("x");
        ImageParam table(Float(32), 1, "table");
        Buffer<float> image(10);
        image.set_min(3);
        image.fill(2.0f);
        table.set(image);
        Func e("e");
        e.define_extern("scaled_table", {table, 0.5f, 5}, Float(32), {x});
        Lowered(e).check<float>({7}, [](int) { return 1.0f; });
    }
    TEST_CASE("several values and a scalar") {
        Var x("x");
        Param<int> n("n");
        n.set(7);
        Func e("e"), out("out");
        e.define_extern("fill_two", {n + 1}, std::vector<Type>{Int(32), Float(32)}, {x});
        out(x) = e(x)[0] + cast<int>(e(x + 1)[1]);
        e.compute_root();
        Lowered(out).check<int>({6}, [](int x) { return 8 + x + 8; });
    }
    TEST_CASE("a Tuple that others read under a condition only") {
        Var x("x");
        Param<int> p("p");
        Func f("f"), e("e"), out("out");
        f(x) = Tuple(x + 5, 10 * x);
        e.define_extern("add_both", {f}, Int(32), {x});
        out(x) = select(p > 0, f(x)[0], e(x));
        f.compute_root();
        e.compute_root();
        p.set(0);
        Lowered(out).check<int>({6}, [](int x) { return 11 * x + 5; });
    }
    TEST_CASE("a Buffer, a number and a Param") {
        Var x("x");
        Buffer<float> table(10);
        table.fill([](int i) { return float(i * i); });
        Param<int> offset("offset");
        for (int value : {0, 3}) {
            offset.set(value);
            Func e("e"), out("out");
            e.define_extern("scaled_table", {table, 0.5f, offset}, Float(32), {x});
            out(x) = e(x) + 1.0f;
            e.compute_root();
            Lowered(out).check<float>(
                {7}, [&](int x) { return 0.5f * float((x + value) * (x + value)) + 1; });
        }
    }
    TEST_CASE("one that fails ends the pipeline") {
        Var x("x");
        Func e("e"), out("out");
        e.define_extern("always_fails", {}, Int(32), {x});
        out(x) = e(x);
        e.compute_root();
        Lowered l(out);
        CHECK_THROWS_WITH_AS(l.check<int>({6}, [](int) { return 0; }),
                             doctest::Contains("always_fails"), RuntimeError);
    }
    TEST_CASE("one without a schedule reads a buffer from within its consumer's loops") {
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
    TEST_CASE("what one answers to a query is read after it has answered") {
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
    TEST_CASE("the loads of what one computes and reads are traced") {
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
        pipeline.jit_handlers().custom_trace = [](JITUserContext *,
                                                  const tessera_trace_event_t *e) {
            loads += e->event == tessera_trace_load;
            return 1;
        };
        Buffer<int> result = pipeline.realize({5});
        for (int i = 0; i < 5; i++) CHECK(result(i) == 2 * i + 1);
        CHECK(loads == 5);
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
}

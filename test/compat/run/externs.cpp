#include "../program.h"
#include <atomic>
#include <cstring>

static std::atomic<int> calls_of_stage{0}, queries_of_stage{0};

extern "C" HALIDE_EXPORT_SYMBOL float compat_blend(float a, float b) { return a * 0.25f + b; }
extern "C" HALIDE_EXPORT_SYMBOL int compat_count(int x) { return x * 2 + 1; }
extern "C" HALIDE_EXPORT_SYMBOL int compat_three(int a, float b, uint8_t c) {
    return a + int(b) + c;
}
HalideExtern_2(float, compat_blend, float, float);
HalidePureExtern_1(int, compat_count, int);
HalideExtern_3(int, compat_three, int, float, uint8_t);

// out(x) = in(x) + in(x + 1)
extern "C" HALIDE_EXPORT_SYMBOL int compat_stage(halide_buffer_t *in, int offset,
                                                 halide_buffer_t *out) {
    if (in->is_bounds_query() || out->is_bounds_query()) {
        queries_of_stage++;
        in->dim[0].min = out->dim[0].min;
        in->dim[0].extent = out->dim[0].extent + 1;
        return 0;
    }
    calls_of_stage++;
    int32_t *dst = (int32_t *)out->host;
    const int32_t *src = (const int32_t *)in->host;
    int shift = out->dim[0].min - in->dim[0].min;
    for (int i = 0; i < out->dim[0].extent; i++) {
        dst[i] = src[i + shift] + src[i + shift + 1] + offset;
    }
    return 0;
}

extern "C" HALIDE_EXPORT_SYMBOL int compat_source(halide_buffer_t *out) {
    if (out->is_bounds_query()) return 0;
    for (int y = 0; y < out->dim[1].extent; y++) {
        for (int x = 0; x < out->dim[0].extent; x++) {
            int at[] = {out->dim[0].min + x, out->dim[1].min + y};
            *(int32_t *)out->address_of(at) = at[0] * 10 + at[1];
        }
    }
    return 0;
}

extern "C" HALIDE_EXPORT_SYMBOL int compat_two_outputs(halide_buffer_t *a, halide_buffer_t *b) {
    if (a->is_bounds_query() || b->is_bounds_query()) return 0;
    Runtime::Buffer<int> ra(*a);
    Runtime::Buffer<float> rb(*b);
    ra.for_each_element([&](int x) {
        ra(x) = x;
        rb(x) = x * 0.5f;
    });
    return 0;
}

extern "C" HALIDE_EXPORT_SYMBOL int compat_failing(halide_buffer_t *) { return 42; }

PROGRAM(extern_functions) {
    Var x;
    Func f, g;
    f(x) = compat_blend(cast<float>(x), 1.0f);
    g(x) = compat_count(x) + compat_three(x, 2.5f, cast<uint8_t>(3));
    f.vectorize(x, 4);
    Buffer<float> a = f.realize({8});
    Buffer<int> b = g.realize({8});
    EXPECT(a(4) == 2.0f && b(3) == 7 + 3 + 2 + 3);
    return 0;
}

PROGRAM(extern_stages) {
    calls_of_stage = 0;
    queries_of_stage = 0;
    Var x;
    Func in, stage, out;
    in(x) = x * x;
    stage.define_extern("compat_stage", {in, 100}, Int(32), 1);
    out(x) = stage(x) * 2;
    in.compute_root();
    stage.compute_root();
    EXPECT(stage.is_extern() && stage.extern_function_name() == "compat_stage");
    Buffer<int> r = out.realize({5});
    EXPECT(r(3) == 2 * (9 + 16 + 100));
    EXPECT(calls_of_stage == 1 && queries_of_stage > 0);
    return 0;
}

PROGRAM(extern_stage_arguments) {
    Var x;
    Param<int> offset;
    offset.set(1000);
    ImageParam image(Int(32), 1);
    Buffer<int> b(8);
    b.fill(1);
    image.set(b);
    Func from_image, from_buffer;
    std::vector<ExternFuncArgument> args = {image, offset};
    from_image.define_extern("compat_stage", args, Int(32), {x});
    from_buffer.define_extern("compat_stage", {b, Expr(7)}, {Int(32)}, 1, NameMangling::C);
    Buffer<int> r = from_image.realize({4}), s = from_buffer.realize({4});
    EXPECT(r(2) == 1002 && s(2) == 9);
    return 0;
}

PROGRAM(extern_sources) {
    Var x, y;
    Func f, g;
    f.define_extern("compat_source", {}, Int(32), 2);
    g(x, y) = f(x, y) + f(x + 1, y);
    f.compute_at(g, y);
    g.parallel(y);
    Buffer<int> out = g.realize({4, 4});
    EXPECT(out(2, 3) == 23 + 33);
    return 0;
}

PROGRAM(extern_stage_of_several_outputs) {
    Func f;
    f.define_extern("compat_two_outputs", {}, std::vector<Type>{Int(32), Float(32)}, 1);
    Realization r = f.realize({5});
    Buffer<int> a = r[0];
    Buffer<float> b = r[1];
    EXPECT(a(4) == 4 && b(3) == 1.5f);
    return 0;
}

PROGRAM(extern_stage_that_fails) {
    Func f;
    f.define_extern("compat_failing", {}, Int(32), 1);
    bool failed = false;
    try {
        f.realize({5});
    } catch (const RuntimeError &e) {
        failed = std::strstr(e.what(), "compat_failing") != nullptr;
    }
    EXPECT(failed);
    return 0;
}

PROGRAM(jit_externs) {
    Var x, y;
    Func f, g, h;
    f(x, y) = x + y;
    f.compile_jit();
    g.define_extern("made_elsewhere", {}, Int(32), 2);
    h(x, y) = g(x, y) * 2;
    g.compute_root();
    Pipeline p(h);
    p.set_jit_externs({{"made_elsewhere", JITExtern(f)}});
    Buffer<int> out = p.realize({4, 4});
    EXPECT(out(3, 2) == 10);
    Func k;
    k.define_extern("by_address", {}, Int(32), 2);
    Pipeline q(k);
    q.set_jit_externs({{"by_address", JITExtern(compat_source)}});
    Buffer<int> out2 = q.realize({3, 3});
    EXPECT(out2(2, 1) == 21);
    return 0;
}

struct CountingContext : JITUserContext {
    int calls = 0;
};
extern "C" HALIDE_EXPORT_SYMBOL int stage_with_context(JITUserContext *context,
                                                       halide_buffer_t *out) {
    if (!out->host) return 0;
    static_cast<CountingContext *>(context)->calls++;
    for (int i = 0; i < out->dim[0].extent; i++) reinterpret_cast<int *>(out->host)[i] = i;
    return 0;
}
PROGRAM(extern_stage_with_the_context) {
    Func f, g;
    Var x;
    f.define_extern("stage_with_context", {user_context_value()}, Int(32), 1);
    f.compute_root();
    g(x) = f(x) * 2;
    CountingContext context;
    Buffer<int> out = g.realize(&context, {5});
    EXPECT(context.calls == 1 && out(4) == 8);
    return 0;
}

namespace {

bool wants_whole_tiles = true;

// Rounded out to multiples of 8.
void round_to_tiles(halide_buffer_t *b) {
    const int first = b->dim[0].min & ~7, end = (b->dim[0].min + b->dim[0].extent + 7) & ~7;
    b->dim[0].min = first;
    b->dim[0].extent = end - first;
}
bool is_of_tiles(const halide_buffer_t *b) {
    return !wants_whole_tiles || (b->dim[0].min % 8 == 0 && b->dim[0].extent % 8 == 0);
}
bool holds(const halide_buffer_t *b, int first, int extent) {
    return b->dim[0].min <= first && first + extent <= b->dim[0].min + b->dim[0].extent;
}

}  // namespace

// out(x) = in(x) * 2; what is read is said before what is computed is rounded.
extern "C" HALIDE_EXPORT_SYMBOL int compat_tiles(halide_buffer_t *in, halide_buffer_t *out) {
    const int first = out->dim[0].min, extent = out->dim[0].extent;
    if (in->is_bounds_query() || out->is_bounds_query()) {
        in->dim[0].min = first;
        in->dim[0].extent = extent;
        round_to_tiles(out);
        return 0;
    }
    if (!is_of_tiles(out) || !holds(in, first, extent)) return 7;
    for (int i = 0; i < extent; i++) {
        ((int32_t *)out->host)[i] = ((const int32_t *)in->host)[first + i - in->dim[0].min] * 2;
    }
    return 0;
}
extern "C" HALIDE_EXPORT_SYMBOL int compat_tiles_of_nothing(halide_buffer_t *out) {
    if (out->is_bounds_query()) return round_to_tiles(out), 0;
    if (!is_of_tiles(out)) return 7;
    for (int i = 0; i < out->dim[0].extent; i++) {
        ((int32_t *)out->host)[i] = out->dim[0].min + i;
    }
    return 0;
}
extern "C" HALIDE_EXPORT_SYMBOL int compat_two_tiles(halide_buffer_t *a, halide_buffer_t *b) {
    if (a->is_bounds_query()) return round_to_tiles(a), 0;  // for both
    if (!is_of_tiles(a) || !is_of_tiles(b)) return 7;
    for (int i = 0; i < a->dim[0].extent; i++) {
        ((int32_t *)a->host)[i] = ((int32_t *)b->host)[i] = a->dim[0].min + i;
    }
    return 0;
}

PROGRAM(extern_stages_that_compute_whole_tiles) {
    for (int place = 0; place < 4; place++) {
        Var x, xo, xi;
        Func in, f, g;
        in(x) = x * 3;
        f.define_extern("compat_tiles", {in}, Int(32), 1);
        g(x) = f(x) + f(x + 3);
        g.split(x, xo, xi, 5, TailStrategy::GuardWithIf);
        if (place == 2) g.parallel(xo);
        if (place == 0) {
            f.compute_root();
        } else {
            f.compute_at(g, xo);
        }
        if (place == 3) {
            in.compute_at(g, xo);
        } else {
            in.compute_root();
        }
        Buffer<int> out = g.realize({13});
        for (int i = 0; i < 13; i++) EXPECT(out(i) == 6 * i + 6 * (i + 3));
    }
    return 0;
}
PROGRAM(extern_sources_that_compute_whole_tiles) {
    Var x;
    Func f, h, g, two;
    f.define_extern("compat_tiles_of_nothing", {}, Int(32), 1);
    h.define_extern("compat_tiles", {f}, Int(32), 1);
    two.define_extern("compat_two_tiles", {}, {Int(32), Int(32)}, 1);
    g(x) = h(x + 3) + h(x + 6) + two(x + 1)[1];
    f.compute_root();
    h.compute_root();
    two.compute_root();
    Buffer<int> out = g.realize({13});
    for (int i = 0; i < 13; i++) EXPECT(out(i) == 2 * (i + 3) + 2 * (i + 6) + i + 1);
    return 0;
}
PROGRAM(extern_outputs_are_as_large_as_their_buffers) {
    wants_whole_tiles = false;
    Var x;
    Func in, f;
    in(x) = x * 3;
    in.compute_root();
    f.define_extern("compat_tiles", {in}, Int(32), 1);
    Buffer<int> out(13);
    f.realize(out);
    wants_whole_tiles = true;
    EXPECT(out(12) == 72);
    return 0;
}
PROGRAM(pipelines_as_extern_stages_compute_whole_vectors) {
    Var x;
    Func inner, f, g;
    inner(x) = x * 5;
    inner.vectorize(x, 8);
    inner.compile_jit();
    f.define_extern("computes_eight", {}, Int(32), 1);
    f.compute_root();
    g(x) = f(x) + 1;
    Pipeline p(g);
    p.set_jit_externs({{"computes_eight", JITExtern(inner)}});
    Buffer<int> out = p.realize({3});
    EXPECT(out(2) == 11);
    return 0;
}
PROGRAM(extern_stages_stored_elsewhere_compute_what_is_needed) {
    for (int place = 0; place < 3; place++) {
        Var x, xo, xi;
        Func in, f, g;
        in(x) = x;
        in.compute_root();
        f.define_extern("compat_tiles", {in}, Int(32), 1);
        g(x) = f(x) + f(x + 3);
        g.split(x, xo, xi, 5, TailStrategy::GuardWithIf);
        f.compute_at(g, xo);
        if (place == 0) f.store_root();
        if (place == 1) f.hoist_storage_root();
        if (place == 2) f.store_in(MemoryType::Stack).bound_extent(f.args()[0], 8);
        std::string why;
        try {
            g.realize({13});
        } catch (const Error &e) {
            why = e.what();
        }
        EXPECT(why.find("The extern stage compat_tiles wants to compute [") != why.npos &&
               why.find("it may compute more than that only where") != why.npos);
    }
    return 0;
}

#include "../program.h"
#include "halide_benchmark.h"
#include "halide_image_io.h"

// ---- Handlers ----
namespace {
std::atomic<int> begin_count{0}, store_count{0}, store_lanes{0}, vector_stores{0}, scalar_stores{0};
std::map<std::string, std::vector<int>> regions;
std::mutex region_mutex;
int32_t region_trace(JITUserContext *, const halide_trace_event_t *e) {
    if (e->event == halide_trace_begin_realization) {
        std::lock_guard<std::mutex> lock(region_mutex);
        begin_count++;
        std::vector<int> r(e->coordinates, e->coordinates + e->dimensions);
        regions[std::string(e->func)] = r;
    }
    return 0;
}
int32_t store_trace(JITUserContext *, const halide_trace_event_t *e) {
    if (e->event == halide_trace_store) {
        store_count++;
        if (e->type.lanes > 1)
            vector_stores++;
        else
            scalar_stores++;
    }
    return 0;
}
}  // namespace

PROGRAM(align_bounds_traced) {
    Func f("f_ab"), g("g_ab");
    Var x("x");
    f(x) = 3;
    g(x) = f(x);
    f.compute_root().align_bounds(x, 2);
    f.trace_realizations();
    g.jit_handlers().custom_trace = &region_trace;
    regions.clear();
    g.realize({3});
    EXPECT(regions.count("f_ab") == 1);
    EXPECT(regions["f_ab"][0] == 0 && regions["f_ab"][1] == 4);
    Func h("h_ab"), k("k_ab");
    h(x) = 3;
    k(x) = h(x);
    h.compute_root().align_bounds(x, 2, 1);
    h.trace_realizations();
    k.jit_handlers().custom_trace = &region_trace;
    k.realize({3});
    EXPECT(regions["h_ab"][0] == -1 && regions["h_ab"][1] == 4);
    return 0;
}
PROGRAM(argmax_by_hand) {
    Func f, arg_max;
    Var x;
    RDom r(0, 100);
    f(x) = cast<uint8_t>((x * 37) % 101);
    arg_max() = Tuple(0, cast<uint8_t>(0));
    Expr old_max = arg_max()[1];
    Expr new_max = f(r.x);
    arg_max() = select(old_max < new_max, Tuple(r.x, new_max), arg_max());
    f.compute_root();
    Realization re = arg_max.realize();
    Buffer<int> r0 = re[0];
    Buffer<uint8_t> r1 = re[1];
    int best = 0, at = 0;
    for (int i = 0; i < 100; i++)
        if ((i * 37) % 101 > best) {
            best = (i * 37) % 101;
            at = i;
        }
    EXPECT(r0() == at && r1() == best);
    int a, b;
    RDom r2(0, 20);
    evaluate(argmax(r2, (r2.x * 7) % 19), &a, &b);
    EXPECT(b == 18);
    Expr e1 = argmin(f(r))[0];
    EXPECT(evaluate<int>(e1) == 0);
    return 0;
}
PROGRAM(custom_print_texts) {
    static std::vector<std::string> messages;
    messages.clear();
    Var x;
    {
        Func f;
        f(x) = print(x * x, "the answer is", 42.0f, "unsigned", cast<uint32_t>(145));
        f.jit_handlers().custom_print = [](JITUserContext *, const char *m) {
            messages.push_back(m);
        };
        Buffer<int32_t> result = f.realize({10});
        EXPECT(messages.size() == 10);
        for (int i = 0; i < 10; i++) {
            char text[100];
            snprintf(text, sizeof(text), "%d the answer is 42.000000 unsigned 145\n", i * i);
            EXPECT(messages[i] == text);
        }
    }
    messages.clear();
    {
        Func f;
        Param<int> param;
        param.set(127);
        f(x) = print_when(x == 3, x * x, "g", cast<double>(42.0f), "hello", param);
        f.jit_handlers().custom_print = [](JITUserContext *, const char *m) {
            messages.push_back(m);
        };
        f.realize({10});
        EXPECT(messages.size() == 1);
        EXPECT(messages[0] == "9 g 4.200000e+01 hello 127\n" ||
               (printf("%s", messages[0].c_str()), false));
    }
    messages.clear();
    {
        Func f;
        f(x) = print(x * x, "g", cast<int8_t>(x), cast<uint64_t>(x) << 40, cast<bool>(x),
                     cast<float16_t>(1.5f));
        f.jit_handlers().custom_print = [](JITUserContext *, const char *m) {
            messages.push_back(m);
        };
        f.realize({2});
        EXPECT(messages.size() == 2);
        printf("%s", messages[1].c_str());
    }
    return 0;
}
PROGRAM(print_vectorized) {
    static std::vector<std::string> messages;
    messages.clear();
    Var x;
    Func f;
    f(x) = print(x * 3);
    f.vectorize(x, 32);
    f.jit_handlers().custom_print = [](JITUserContext *, const char *m) { messages.push_back(m); };
    Buffer<int> out = f.realize({128});
    EXPECT(messages.size() == 128 && out(100) == 300);
    Func g;
    g(x) = print(x * 2);
    g.vectorize(x, 4).parallel(x);
    static std::atomic<int> n;
    n = 0;
    g.jit_handlers().custom_print = [](JITUserContext *, const char *) { n++; };
    g.realize({64});
    EXPECT(n == 64);
    return 0;
}
PROGRAM(error_handler_count) {
    static int errors;
    errors = 0;
    Func f, g;
    Var x;
    ImageParam in(Int(32), 1);
    f(x) = in(x);
    g(x) = f(x);
    f.compute_root();
    g.jit_handlers().custom_error = [](JITUserContext *, const char *msg) {
        errors++;
        printf("%s\n", msg);
    };
    Buffer<int> small(10);
    in.set(small);
    g.realize({20});
    EXPECT(errors == 1);
    g.realize({10});
    EXPECT(errors == 1);
    return 0;
}
PROGRAM(malloc_sizes) {
    static size_t peak;
    peak = 0;
    Func f, g;
    Var x, y;
    f(x, y) = x + y;
    g(x, y) = f(x, y) + f(x, y + 1);
    f.store_root().compute_at(g, y).fold_storage(y, 2);
    g.jit_handlers().custom_malloc = [](JITUserContext *, size_t n) {
        peak = std::max(peak, n);
        void *orig = malloc(n + 64);
        void *p = (void *)((((size_t)orig + 64) >> 5) << 5);
        ((void **)p)[-1] = orig;
        return p;
    };
    g.jit_handlers().custom_free = [](JITUserContext *, void *p) { free(((void **)p)[-1]); };
    Buffer<int> out = g.realize({1000, 100});
    EXPECT(out(3, 4) == 15);
    EXPECT(peak > 0 && peak <= 2 * 1000 * 4 + 64 * 4);
    return 0;
}
PROGRAM(do_par_for_types) {
    static int tasks;
    tasks = 0;
    Func f;
    Var x, y;
    f(x, y) = x + y;
    f.parallel(y);
    JITUserContext ctx;
    ctx.handlers.custom_do_par_for = [](JITUserContext *c,
                                        int (*fn)(JITUserContext *, int, uint8_t *), int min,
                                        int extent, uint8_t *closure) {
        for (int i = min; i < min + extent; i++) {
            tasks++;
            int r = fn(c, i, closure);
            if (r) return r;
        }
        return 0;
    };
    Buffer<int> out = f.realize(&ctx, {8, 8});
    EXPECT(tasks == 8 && out(3, 3) == 6);
    f.jit_handlers() = JITHandlers();
    JITHandlers h = Internal::JITSharedRuntime::set_default_handlers(JITHandlers());
    Internal::JITSharedRuntime::set_default_handlers(h);
    return 0;
}

// ---- Calls of C ----
extern "C" {
static int w_call_count = 0;
HALIDE_EXPORT_SYMBOL int w_count_calls(int x) {
    w_call_count++;
    return x;
}
HALIDE_EXPORT_SYMBOL int w_count_calls2(int x, int y) {
    w_call_count++;
    return x + y;
}
HALIDE_EXPORT_SYMBOL float w_scale(float v, int k) { return v * k; }
HALIDE_EXPORT_SYMBOL int w_len(const char *s) { return (int)strlen(s); }
}
HalideExtern_1(int, w_count_calls, int);
HalideExtern_2(int, w_count_calls2, int, int);
HalidePureExtern_2(float, w_scale, float, int);
HalideExtern_1(int, w_len, const char *);

PROGRAM(sliding_counts) {
    {
        Func f, g;
        Var x, y;
        f(x) = w_count_calls(x);
        g(x) = f(x) + f(x - 1);
        f.store_root().compute_at(g, x);
        w_call_count = 0;
        Buffer<int> im = g.realize({100});
        for (int i = 0; i < 100; i++) EXPECT(im(i) == 2 * i - 1);
        EXPECT(w_call_count == 101);
    }
    {
        Func f, g;
        Var x, y;
        f(x, y) = w_count_calls(x);
        g(x, y) = f(x, y) + f(x - 1, y) + f(x, y - 1);
        f.store_root().compute_at(g, x);
        w_call_count = 0;
        g.realize({10, 10});
        EXPECT(w_call_count <= 11 * 11);
        printf("%d\n", w_call_count);
    }
    {
        Func f, g, h;
        Var x;
        f(x) = w_count_calls(x);
        g(x) = f(x) + f(x + 1);
        h(x) = g(x) + g(x + 1);
        f.store_root().compute_at(h, x);
        g.store_root().compute_at(h, x);
        w_call_count = 0;
        h.realize({100});
        EXPECT(w_call_count == 102 || (printf("%d\n", w_call_count), false));
    }
    {
        // Sliding along two updates.
        Func f, g;
        Var x, y;
        f(x, y) = w_count_calls2(x, y);
        g(x, y) = f(x, y) + f(x, y - 1);
        f.compute_at(g, y).store_root();
        w_call_count = 0;
        g.realize({10, 10});
        EXPECT(w_call_count == 110 || (printf("%d\n", w_call_count), false));
    }
    {
        // Unrolled loop around.
        Func f, g;
        Var x;
        f(x) = w_count_calls(x);
        g(x) = f(x) + f(x - 1);
        f.store_root().compute_at(g, x);
        g.unroll(x, 4);
        w_call_count = 0;
        g.realize({100});
        EXPECT(w_call_count == 101 || (printf("%d\n", w_call_count), false));
    }
    return 0;
}
PROGRAM(handles) {
    Param<const char *> p;
    p.set("hello there");
    Func f;
    f() = w_len(p);
    EXPECT(evaluate<int>(w_len(p)) == 11);
    Buffer<int> out = f.realize();
    EXPECT(out() == 11);
    int v = 17;
    Param<int *> ptr;
    ptr.set(&v);
    uint64_t bits = evaluate<uint64_t>(reinterpret<uint64_t>(ptr));
    EXPECT(bits == (uint64_t)&v);
    return 0;
}
PROGRAM(skip_stages) {
    {
        Func f1, f2, f3, f4;
        Var x;
        Param<bool> toggle1, toggle2;
        f1(x) = w_count_calls(x);
        f2(x) = w_count_calls(x);
        f3(x) = select(toggle1, f1(x), 0) + select(toggle2, f2(x), 0);
        f1.compute_root();
        f2.compute_root();
        f3.compile_jit();
        int want[] = {0, 10, 10, 20};
        for (int i = 0; i < 4; i++) {
            toggle1.set((i & 1) != 0);
            toggle2.set((i & 2) != 0);
            w_call_count = 0;
            f3.realize({10});
            EXPECT(w_call_count == want[i]);
        }
    }
    {
        // By what another is needed for.
        Func f1, f2, f3;
        Var x;
        Param<bool> toggle;
        f1(x) = w_count_calls(x);
        f2(x) = select(toggle, f1(x), 1);
        f3(x) = f2(x) + f2(x + 1);
        f1.compute_root();
        f2.compute_root();
        toggle.set(false);
        w_call_count = 0;
        f3.realize({10});
        EXPECT(w_call_count == 0);
    }
    {
        // By the part of a condition that is known before: x is not.
        Func f, g;
        Var x, xo, xi;
        Param<bool> toggle;
        f(x) = w_count_calls(x);
        g(x) = select(toggle && x > 3, f(x), !(toggle || x < 2), 2, 1);
        g.split(x, xo, xi, 5);
        f.compute_at(g, xo);
        for (bool on : {false, true}) {
            toggle.set(on);
            w_call_count = 0;
            Buffer<int> b = g.realize({10});
            EXPECT(w_call_count == (on ? 6 : 0));  // f is computed where it may be chosen
            for (int i = 0; i < 10; i++) {
                EXPECT(b(i) == (on && i > 3 ? i : !on && i >= 2 ? 2 : 1));
            }
        }
        Func h, k;
        h(x) = w_count_calls(x);
        k(x) = select(toggle || x < 100, 1, h(x));
        k.split(x, xo, xi, 5);
        h.compute_at(k, xo);
        toggle.set(true);
        w_call_count = 0;
        k.realize({10});
        EXPECT(w_call_count == 0);
    }
    {
        // Two values: only what is asked for.
        Func f, g;
        Var x;
        Param<bool> toggle;
        f(x) = Tuple(w_count_calls(x), x);
        g(x) = select(toggle, f(x)[0], 0) + f(x)[1];
        f.compute_root();
        toggle.set(false);
        g.realize({10});
        toggle.set(true);
        w_call_count = 0;
        g.realize({10});
        EXPECT(w_call_count == 10);
    }
    return 0;
}
PROGRAM(side_effects_order) {
    Func f;
    Var x;
    f(x) = w_count_calls(x) * 2;
    w_call_count = 0;
    f.realize({7});
    EXPECT(w_call_count == 7);
    Func g;
    g(x) = w_scale(cast<float>(x), 3);
    Buffer<float> out = g.realize({4});
    EXPECT(out(3) == 9.0f);
    Func h;
    h(x) = w_scale(cast<float>(x), x);
    h.vectorize(x, 4);
    Buffer<float> out2 = h.realize({8});
    EXPECT(out2(5) == 25.0f);
    return 0;
}

// ---- How often a producer is computed that is split itself ----
namespace {
int stores_of(Func producer, Func output, std::vector<int> size) {
    store_lanes = 0;
    producer.trace_stores();
    output.jit_handlers().custom_trace = [](JITUserContext *, const halide_trace_event_t *e) {
        if (int(e->event) == int(halide_trace_store)) store_lanes += e->type.lanes;
        return 0;
    };
    output.realize(size);
    return store_lanes;
}
}  // namespace

PROGRAM(sliding_windows_of_split_producers) {
    Var x("x"), y("y"), xi("xi"), yo("yo"), yi("yi");
    auto both_by = [&](int lanes, int taps_apart, TailStrategy tail) {
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x) + f(x + taps_apart);
        g.vectorize(x, lanes);
        f.store_root().compute_at(g, x).vectorize(x, lanes, tail);
        return stores_of(f, g, {lanes * 8});
    };
    EXPECT(both_by(4, 1, TailStrategy::Auto) == 36);
    EXPECT(both_by(8, 1, TailStrategy::Auto) == 72);
    EXPECT(both_by(8, 1, TailStrategy::RoundUp) == 72);
    EXPECT(both_by(4, 4, TailStrategy::Auto) == 36);
    EXPECT(both_by(4, 1, TailStrategy::GuardWithIf) == 33);
    Func unrolled("unrolled"), g("g");
    unrolled(x) = x;
    g(x) = unrolled(x) + unrolled(x + 1);
    g.split(x, x, xi, 4).unroll(xi);
    unrolled.store_root().compute_at(g, x).vectorize(x, 4);
    EXPECT(stores_of(unrolled, g, {32}) == 36);
    for (TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::RoundUp}) {
        Func d("d"), e("e");
        d(x, y) = x + y;
        e(x, y) = d(x, y - 1) + d(x, y) + d(x, y + 1);
        e.split(y, y, yi, 2).unroll(yi);
        d.store_root().compute_at(e, y).split(y, yo, yi, 2, tail).unroll(yi);
        EXPECT(stores_of(d, e, {1, 20}) == 22);
    }
    return 0;
}

namespace {
std::atomic<int> pure_calls{0};
}
extern "C" HALIDE_EXPORT_SYMBOL int cc_pure(int a, int b) {
    pure_calls++;
    return a + b;
}
extern "C" HALIDE_EXPORT_SYMBOL int cc_plain(int a) { return a; }
HalidePureExtern_2(int, cc_pure, int, int);

PROGRAM(pure_extern_calls_that_loops_repeat) {
    Var x("x"), y("y");
    Param<int> p("p");
    p.set(3);
    auto calls = [&](const Expr &e, bool vectors) {
        Func f("f");
        f(x, y) = e;
        if (vectors) f.vectorize(x, 4);
        pure_calls = 0;
        Buffer<int> b = f.realize({12, 10});
        return pure_calls.load();
    };
    for (bool vectors : {false, true}) {
        EXPECT(calls(x + y + cc_pure(0, p), vectors) == 1);
        EXPECT(calls(select(x > 3, x + y + cc_pure(0, p), 1), vectors) == 1);
        EXPECT(calls(x + cc_pure(y, cc_pure(p, 3)), vectors) == 11);
    }
    return 0;
}

PROGRAM(vectors_of_an_extent_that_varies) {
    Var x("x"), xo("xo"), xi("xi");
    Param<int> p("p"), limited("limited");
    p.set(2);
    limited.set(2);
    limited.set_range(0, 3);
    {
        Func f, g;
        f(x) = x;
        g(x) = f(x) + f(x + 1);
        g.split(x, xo, xi, 4, TailStrategy::GuardWithIf);
        f.compute_at(g, xo).vectorize(x);
        Buffer<int> b = g.realize({10});
        for (int i = 0; i < 10; i++) EXPECT(b(i) == 2 * i + 1);
    }
    for (bool unrolled : {false, true}) {
        for (Expr apart : {clamp(p, 0, 3), Expr(limited)}) {
            Func f, g;
            f(x) = x;
            g(x) = f(x) + f(x + apart);
            f.compute_at(g, x);
            if (unrolled)
                f.unroll(x);
            else
                f.vectorize(x);
            Buffer<int> b = g.realize({10});
            for (int i = 0; i < 10; i++) EXPECT(b(i) == 2 * i + 2);
        }
    }
    return 0;
}

PROGRAM(updates_whose_iterations_do_not_meet) {
    Var x("x");
    RDom r(0, 64);
    Func from_above("from_above"), even("even"), halves("halves");
    from_above(x) = x;
    from_above(r) = from_above(r + 64) + r;
    from_above.update().vectorize(r, 8);
    Buffer<int> a = from_above.realize({128});
    even(x) = x;
    even(2 * r) = even(2 * r + 1) + r;
    even.update().vectorize(r, 8);
    Buffer<int> b = even.realize({128});
    halves(x) = 0;
    halves(r % 2 + 2 * (r / 2)) += 1;
    halves.update().parallel(r);
    Buffer<int> c = halves.realize({64});
    for (int i = 0; i < 64; i++) {
        EXPECT(a(i) == 2 * i + 64 && a(i + 64) == i + 64);
        EXPECT(b(2 * i) == 3 * i + 1 && b(2 * i + 1) == 2 * i + 1);
        EXPECT(c(i) == 1);
    }
    return 0;
}

PROGRAM(order_of_realizations) {
    static std::string order;
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x);
    f.compute_root().trace_realizations();
    g.trace_realizations();
    g.jit_handlers().custom_trace = [](JITUserContext *, const halide_trace_event_t *e) {
        static const std::map<int, std::string> letters = {
            {halide_trace_begin_realization, "("}, {halide_trace_end_realization, ")"},
            {halide_trace_produce, "p"},           {halide_trace_end_produce, "P"},
            {halide_trace_consume, "c"},           {halide_trace_end_consume, "C"}};
        auto found = letters.find(int(e->event));
        if (found != letters.end()) order += e->func + found->second;
        return 1;
    };
    g.realize({4});
    EXPECT(order == "g(f(fpfPfcgpgPfCf)g)");
    return 0;
}

PROGRAM(small_things) {
    // Text of booleans, of targets, of enums.
    static std::string printed;
    Var x("x");
    Func f("f");
    f(x) = print(x > 1, "is");
    f.jit_handlers().custom_print = [](JITUserContext *, const char *text) { printed += text; };
    f.realize({3});
    EXPECT(printed == "false is\nfalse is\ntrue is\n");
    EXPECT(Target("x86-64-linux-sse41-avx-avx2").to_string() == "x86-64-linux-avx-avx2-sse41");
    EXPECT(Target("x86-64-linux-trace_all-avx").to_string() == "x86-64-linux-avx-trace_all");
    std::ostringstream text;
    text << TailStrategy::GuardWithIf << " " << MemoryType::Stack;
    EXPECT(text.str() == "GuardWithIf Stack");
    text.str("");
    text << DeviceAPI::CUDA << " " << RDom(0, 3, 1, 4, "r");
    EXPECT(text.str() == "<CUDA> RDom(\n  r$x(0, 3)\n  r$y(1, 4)\n)");
    // What is known of a Func before it is defined.
    Func typed(Int(32), 2, "typed");
    EXPECT(typed.types()[0] == Int(32) && typed.dimensions() == 2);
    EXPECT(halide_type_of<float16_t>() == halide_type_t(halide_type_float, 16));
    EXPECT(halide_type_of<bfloat16_t>() == halide_type_t(halide_type_bfloat, 16));
    EXPECT(Int(8).is_max(int64_t(127)) && UInt(8).is_min(uint64_t(0)));
    EXPECT(!Int(8).is_min(int64_t(0)) && !UInt(8).is_max(uint64_t(254)));
    EXPECT(Var::is_placeholder("_") && !Var::is_placeholder("x"));
    AutoschedulerParams params("fast", {{"threads", "4"}});
    EXPECT(params.to_string() == "autoscheduler=fast autoscheduler.threads=4");
    Pipeline p(f);
    p.set_jit_externs({{"cc_plain", JITExtern(cc_plain)}});
    EXPECT(p.get_jit_externs().count("cc_plain") == 1);
    Halide::Runtime::Buffer<int> b(3, 2);
    int inside[] = {2, 1}, outside[] = {3, 1};
    EXPECT(b.contains(inside) && !b.contains(outside));
    using namespace Halide::Internal;
    Expr e = substitute("x", 5, Expr(x) + 1);
    EXPECT(as_const_int(simplify(e)).value() == 6);
    return 0;
}

#include "../program.h"
#include <atomic>
#include <cstdlib>

static std::atomic<int> xp_calls{0}, xp_early{0}, xp_late{0};

// to(u, v) = from(u, v) - from(u, v + 1)
extern "C" HALIDE_EXPORT_SYMBOL int xp_step(halide_buffer_t *from, halide_buffer_t *to) {
    if (from->is_bounds_query()) {
        for (int d = 0; d < 2; d++) from->dim[d] = to->dim[d];
        from->dim[1].extent++;
        return 0;
    }
    xp_calls++;
    Runtime::Buffer<int> a(*from), b(*to);
    b.for_each_element([&](int u, int v) { b(u, v) = a(u, v) - a(u, v + 1); });
    return 0;
}
extern "C" HALIDE_EXPORT_SYMBOL int xp_negate(halide_buffer_t *from, halide_buffer_t *to) {
    if (from->is_bounds_query()) {
        for (int d = 0; d < 2; d++) from->dim[d] = to->dim[d];
        return 0;
    }
    Runtime::Buffer<int> a(*from), b(*to);
    b.for_each_element([&](int u, int v) { b(u, v) = -a(u, v); });
    return 0;
}
// Counts the calls in what its context points to.
struct XpContext : JITUserContext {
    int calls = 0;
};
extern "C" HALIDE_EXPORT_SYMBOL int xp_count(void *context, int step, halide_buffer_t *to) {
    if (to->is_bounds_query()) return 0;
    static_cast<XpContext *>(static_cast<JITUserContext *>(context))->calls += step;
    Runtime::Buffer<int> b(*to);
    b.for_each_element([&](int u) { b(u) = 3 * u; });
    return 0;
}

PROGRAM(xp_tiles_and_rows) {
    for (int way = 0; way < 4; way++) {
        Var u("u"), v("v"), uo("uo"), vo("vo"), ui("ui"), vi("vi"), t("t");
        Func plane("plane"), step("step"), out("out");
        plane(u, v) = u + 7 * v * v;
        step.define_extern("xp_step", {plane}, Int(32), {u, v});
        out(u, v) = step(u, v);
        step.compute_root();
        if (way == 0) step.tile(u, v, uo, vo, ui, vi, 5, 4), plane.compute_at(step, uo);
        if (way == 1) step.serial(v), plane.compute_at(step, v);
        if (way == 2) step.parallel(v), plane.compute_root();
        if (way == 3) {
            step.tile(u, v, uo, vo, ui, vi, 5, 4).fuse(uo, vo, t).parallel(t);
            plane.compute_at(step, t).vectorize(u, 4);
        }
        xp_calls = 0;
        Buffer<int> b = out.realize({15, 8});
        EXPECT(xp_calls == (way == 0 || way == 3 ? 6 : 8));
        EXPECT(b(4, 7) == 7 * (49 - 64));
    }
    return 0;
}

PROGRAM(xp_computed_at_a_loop_of_a_call) {
    for (int way = 0; way < 3; way++) {
        Var u("u"), v("v");
        Func plane("plane"), step("step");
        plane(u, v) = u + 7 * v * v;
        step.define_extern("xp_step", {plane}, Int(32), {u, v});
        plane.compute_at(step, way == 0 ? u : way == 1 ? v : Var::outermost());
        xp_calls = 0;
        Buffer<int> b = step.realize({15, 8});
        EXPECT(xp_calls == 1);
        EXPECT(b(4, 7) == 7 * (49 - 64));
    }
    return 0;
}

PROGRAM(xp_folded_storage) {
    for (int way = 0; way < 3; way++) {
        Var u("u"), v("v");
        Func plane("plane"), minus("minus"), out("out");
        plane(u, v) = u + 7 * v;
        minus.define_extern("xp_negate", {plane}, Int(32), {u, v});
        out(u, v) = minus(u, v) + 1;
        plane.compute_root();
        minus.compute_at(out, v);
        if (way != 1) minus.store_root().fold_storage(v, 3);
        if (way > 0) plane.compute_at(out, v).store_root().fold_storage(v, 2);
        Buffer<int> b = out.realize({10, 12});
        EXPECT(b(3, 11) == -79);
    }
    return 0;
}

PROGRAM(xp_fold_that_a_call_wraps_around) {
    Var u("u"), v("v");
    Func plane("plane"), step("step"), out("out");
    plane(u, v) = u + 7 * v;
    step.define_extern("xp_step", {plane}, Int(32), {u, v});
    out(u, v) = step(u, v) + 1;
    step.compute_at(out, v);
    plane.store_root().compute_at(out, v).fold_storage(v, 2);
    try {
        out.realize({10, 12});
    } catch (const RuntimeError &e) {
        const std::string message = e.what();
        EXPECT(message.find("plane") != message.npos);
        EXPECT(message.find("xp_step") != message.npos);
        return 0;
    }
    return 1;
}

PROGRAM(xp_context_of_a_stage) {
    Var i;
    Func stage, out;
    stage.define_extern("xp_count", {user_context_value(), 1}, Int(32), 1);
    out(i) = stage(i) + 1;
    stage.compute_root();
    XpContext context;
    Buffer<int> b = out.realize(&context, {12});
    EXPECT(b(11) == 34);
    EXPECT(context.calls == 1);
    Callable run = out.compile_to_callable({});
    EXPECT(run(&context, b) == 0);
    EXPECT(context.calls == 2);
    return 0;
}

PROGRAM(xp_context_of_a_jit_extern) {
    for (bool said : {true, false}) {
        Var i;
        Func squares, stage;
        Param<int> add;
        squares(i) = i * i + add;
        std::vector<ExternFuncArgument> args = {4};
        if (said) args.insert(args.begin(), user_context_value());
        stage.define_extern("xp_some_squares", args, Int(32), 1);
        Pipeline p(stage);
        p.set_jit_externs({{"xp_some_squares", JITExtern{squares}}});
        Buffer<int> b = p.realize({12});
        EXPECT(b(11) == 125);
    }
    return 0;
}

static void *xp_early_malloc(JITUserContext *, size_t n) { return xp_early++, malloc(n + 128); }
static void *xp_late_malloc(JITUserContext *, size_t n) { return xp_late++, malloc(n + 128); }
static void xp_give_back(JITUserContext *, void *p) { free(p); }

PROGRAM(xp_callable_keeps_its_handlers) {
    Var i;
    Func table, sums;
    table(i) = i * i;
    table.compute_root();
    sums(i) = table(i) + table(i + 1);
    Pipeline p(sums);
    p.jit_handlers().custom_malloc = xp_early_malloc;
    p.jit_handlers().custom_free = xp_give_back;
    Callable run = p.compile_to_callable({});
    p.jit_handlers().custom_malloc = xp_late_malloc;
    Buffer<int> out(70000);
    EXPECT(run(out) == 0);
    EXPECT(xp_early == 1 && xp_late == 0);
    p.realize(out);
    EXPECT(xp_early == 1 && xp_late == 1);
    JITUserContext context;
    Internal::JITSharedRuntime::populate_jit_handlers(&context, p.jit_handlers());
    EXPECT(context.handlers.custom_malloc == xp_late_malloc);
    EXPECT(context.handlers.custom_print != nullptr);
    return 0;
}

PROGRAM(xp_target_of_compile_jit) {
    static uint8_t line[128];
    line[100] = 42;
    halide_dimension_t shape[] = {{0, 128, 1}, {0, 1 << 25, 0}};  // 4 G elements in 128 bytes
    for (bool of_pipeline : {false, true}) {
        ImageParam big(UInt(8), 2, "big");
        big.set(Buffer<uint8_t>(line, 2, shape));
        Func corner;
        corner() = big(100, big.dim(1).max());
        const Target t = get_jit_target_from_environment().with_feature(Target::LargeBuffers);
        Pipeline p(corner);
        of_pipeline ? p.compile_jit(t) : corner.compile_jit(t);
        Buffer<uint8_t> b = of_pipeline ? p.realize() : corner.realize();
        EXPECT(b() == 42);
        corner.compute_root();
        b = of_pipeline ? p.realize() : corner.realize();
        EXPECT(b() == 42);
    }
    return 0;
}

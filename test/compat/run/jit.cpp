#include "../program.h"
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {
std::string printed;
std::atomic<int> mallocs{0}, frees{0}, tasks{0}, loops{0}, errors{0};
std::string last_error;

void my_print(JITUserContext *, const char *text) { printed += text; }
void *my_malloc(JITUserContext *, size_t n) {
    mallocs++;
    void *raw = std::malloc(n + 256);
    auto at = (reinterpret_cast<uintptr_t>(raw) + 255) & ~uintptr_t(127);
    reinterpret_cast<void **>(at)[-1] = raw;
    return reinterpret_cast<void *>(at);
}
void my_free(JITUserContext *, void *p) {
    frees++;
    std::free(reinterpret_cast<void **>(p)[-1]);
}
int my_task(JITUserContext *c, int (*f)(JITUserContext *, int, uint8_t *), int i,
            uint8_t *closure) {
    tasks++;
    return f(c, i, closure);
}
int my_par_for(JITUserContext *c, int (*f)(JITUserContext *, int, uint8_t *), int min, int size,
               uint8_t *closure) {
    loops++;
    for (int i = min; i < min + size; i++) {
        if (int r = f(c, i, closure)) return r;
    }
    return 0;
}
void my_error(JITUserContext *, const char *message) {
    errors++;
    last_error = message;
}

struct MyContext : JITUserContext {
    int value = 0;
};
void context_print(JITUserContext *c, const char *) { static_cast<MyContext *>(c)->value++; }

std::vector<std::string> events;
int my_trace(JITUserContext *, const halide_trace_event_t *e) {
    static int id = 0;
    events.push_back(std::to_string(int(e->event)) + " " + e->func);
    return ++id;
}
int stores = 0, loads = 0;
int counting_trace(JITUserContext *, const halide_trace_event_t *e) {
    if (e->event == halide_trace_store) stores += e->type.lanes;
    if (e->event == halide_trace_load) loads += e->type.lanes;
    return 0;
}
int last_value = 0, last_x = 0;
int value_trace(JITUserContext *, const halide_trace_event_t *e) {
    if (e->event == halide_trace_store) {
        last_value = ((const int *)e->value)[e->type.lanes - 1];
        last_x = e->coordinates[e->type.lanes - 1];
    }
    return 0;
}
}  // namespace

PROGRAM(printing) {
    printed.clear();
    Var x("x");
    Func f;
    f(x) = print(x * 2, "at", x);
    f.jit_handlers().custom_print = my_print;
    f.realize({3});
    EXPECT(printed.find("4 at 2") != std::string::npos);
    printed.clear();
    Func g;
    g(x) = print_when(x == 1, x + 10, "once");
    g.jit_handlers().custom_print = my_print;
    g.realize({4});
    EXPECT(printed.find("11 once") != std::string::npos && printed.find("12") == std::string::npos);
    return 0;
}

PROGRAM(memory_handlers) {
    mallocs = frees = 0;
    Var x;
    Func f, g;
    f(x) = x;
    g(x) = f(x) + f(x + 1);
    f.compute_root();
    g.jit_handlers().custom_malloc = my_malloc;
    g.jit_handlers().custom_free = my_free;
    g.realize({100000});
    EXPECT(mallocs > 0 && mallocs == frees);
    return 0;
}

PROGRAM(task_handlers) {
    tasks = loops = 0;
    Var x, y;
    Func f, g;
    f(x, y) = x + y;
    f.parallel(y);
    f.jit_handlers().custom_do_task = my_task;
    f.realize({4, 8});
    EXPECT(tasks == 8);
    g(x, y) = x + y;
    g.parallel(y);
    g.jit_handlers().custom_do_par_for = my_par_for;
    Buffer<int> out = g.realize({4, 8});
    EXPECT(loops == 1 && out(3, 7) == 10);
    return 0;
}

PROGRAM(error_handlers) {
    errors = 0;
    Buffer<int> in(2);
    Var x;
    Func f;
    f(x) = in(x);
    f.jit_handlers().custom_error = my_error;
    Buffer<int> out(10);
    f.realize(out);
    EXPECT(errors == 1 && !last_error.empty());
    return 0;
}

PROGRAM(user_contexts) {
    MyContext context;
    context.handlers.custom_print = context_print;
    Var x;
    Func f;
    f(x) = print(x);
    f.realize(&context, {5});
    EXPECT(context.value == 5);
    Buffer<int> out(3);
    f.realize(&context, out);
    EXPECT(context.value == 8);
    EXPECT(evaluate<int>(&context, print(Expr(3))) == 3);
    EXPECT(context.value == 9);
    return 0;
}

PROGRAM(trace_of_realizations) {
    events.clear();
    Var x("x");
    Func f("f_traced"), g("g_traced");
    f(x) = x;
    g(x) = f(x) + 1;
    f.compute_root().trace_realizations();
    g.trace_stores();
    Pipeline p(g);
    p.trace_pipeline();
    p.jit_handlers().custom_trace = my_trace;
    p.realize({2});
    auto count = [](int code) {
        int n = 0;
        for (const std::string &e : events) n += std::atoi(e.c_str()) == code;
        return n;
    };
    EXPECT(count(halide_trace_begin_pipeline) == 1 && count(halide_trace_end_pipeline) == 1);
    EXPECT(count(halide_trace_begin_realization) >= 1 && count(halide_trace_produce) >= 1);
    EXPECT(count(halide_trace_store) == 2);
    return 0;
}

PROGRAM(trace_of_loads_and_stores) {
    stores = loads = 0;
    Var x, y;
    Func f, g;
    f(x, y) = x + y;
    g(x, y) = f(x, y) + f(x + 1, y);
    f.compute_root().trace_stores().trace_loads();
    g.jit_handlers().custom_trace = counting_trace;
    g.realize({4, 4});
    EXPECT(stores == 20 && loads == 32);
    Func h;
    h(x) = x * 7;
    h.vectorize(x, 4).trace_stores();
    h.jit_handlers().custom_trace = value_trace;
    h.realize({8});
    EXPECT(last_value == 49 && last_x == 7);
    return 0;
}

PROGRAM(trace_tags) {
    Var x;
    Func f("tagged");
    f(x) = x;
    f.trace_stores().add_trace_tag("a tag");
    static std::string tag;
    f.jit_handlers().custom_trace = [](JITUserContext *, const halide_trace_event_t *e) -> int {
        if (e->event == halide_trace_tag) tag += e->trace_tag;
        return 1;
    };
    f.realize({2});
    EXPECT(tag.find("a tag") != std::string::npos);
    return 0;
}

PROGRAM(trace_of_images) {
    loads = 0;
    ImageParam in(Int(32), 1);
    Var x;
    Func f;
    f(x) = in(x) * 2;
    in.trace_loads();
    Buffer<int> b(5);
    b.fill(1);
    in.set(b);
    f.jit_handlers().custom_trace = counting_trace;
    f.realize({5});
    EXPECT(loads == 5);
    return 0;
}

PROGRAM(traces_by_target) {
    stores = loads = 0;
    Var x;
    Func f, g;
    f(x) = x;
    g(x) = f(x);
    f.compute_root();
    g.jit_handlers().custom_trace = counting_trace;
    g.realize({5}, get_jit_target_from_environment().with_feature(Target::TraceStores));
    EXPECT(stores == 10);
    return 0;
}

PROGRAM(callables) {
    Param<int> p("p");
    ImageParam in(Int(32), 1, "in");
    Var x;
    Func f("f");
    f(x) = in(x)*p;
    Callable c = f.compile_to_callable({in, p});
    EXPECT(c.defined() && !Callable().defined());
    Buffer<int> a(6), out(6);
    a.fill(3);
    EXPECT(c(a, 5, out) == 0 && out(2) == 15);
    auto typed = c.make_std_function<Buffer<int, 1>, int, Buffer<int, 1>>();
    EXPECT(typed(a, 2, out) == 0 && out(5) == 6);
    JITUserContext context;
    EXPECT(c(&context, a, 4, out) == 0 && out(0) == 12);
    std::function<int(Buffer<int, 1>, int, Buffer<int, 1>)> plain =
        c.make_std_function<Buffer<int, 1>, int, Buffer<int, 1>>();
    EXPECT(plain(a, 1, out) == 0 && out(0) == 3);
    return 0;
}

PROGRAM(shared_runtime) {
    JITHandlers handlers;
    handlers.custom_print = my_print;
    printed.clear();
    JITHandlers before = Internal::JITSharedRuntime::set_default_handlers(handlers);
    Var x;
    Func f;
    f(x) = print(x);
    f.realize({2});
    Internal::JITSharedRuntime::set_default_handlers(before);
    EXPECT(printed.find("1") != std::string::npos);
    Internal::JITSharedRuntime::release_all();
    return 0;
}

PROGRAM(several_outputs) {
    Var x, y;
    Func f("f"), g("g"), h("h");
    f(x, y) = x + y;
    g(x, y) = f(x, y) * 2;
    h(x, y) = f(x, y) * 3;
    f.compute_root();
    Pipeline p({g, h});
    EXPECT(p.defined() && p.outputs().size() == 2 && !Pipeline().defined());
    Realization r = p.realize({4, 4});
    Buffer<int> a = r[0], b = r[1];
    EXPECT(a(3, 3) == 12 && b(3, 3) == 18);
    EXPECT(p.get_func(0).name() == f.name());
    p.compile_jit();
    p.print_loop_nest();
    return 0;
}

PROGRAM(requirements_met) {
    Param<int> p;
    p.set(7);
    Var x;
    Func f;
    f(x) = require(p > 5, x * p, "p is too small:", p);
    Pipeline pipeline(f);
    pipeline.add_requirement(p < 100, "p is too large:", p);
    Buffer<int> out = pipeline.realize({3});
    EXPECT(out(2) == 14);
    return 0;
}

PROGRAM(lowering_passes) {
    static int visited;
    visited = 0;
    class Count : public Internal::IRMutator {
        using Internal::IRMutator::visit;
        Internal::Stmt visit(const Internal::Store *op) override {
            visited++;
            return Internal::IRMutator::visit(op);
        }
    };
    Var x;
    Func f;
    f(x) = x * 3;
    f.add_custom_lowering_pass(new Count);
    Buffer<int> out = f.realize({5});
    EXPECT(visited > 0 && out(4) == 12);
    f.clear_custom_lowering_passes();
    return 0;
}

PROGRAM(compiled_ahead_of_time) {
    std::string prefix = "/tmp/compat_" + std::to_string(getpid());
    auto exists = [](const std::string &path) {
        FILE *f = fopen(path.c_str(), "rb");
        if (!f) return false;
        fclose(f);
        remove(path.c_str());
        return true;
    };
    Param<int> p("p");
    Var x("x");
    Func f("f");
    f(x) = x * p;
    f.compile_to_lowered_stmt(prefix + ".stmt", {p}, Text);
    f.compile_to_object(prefix + ".o", {p}, "f");
    f.compile_to_header(prefix + ".h", {p}, "f");
    f.compile_to_assembly(prefix + ".s", {p}, "f");
    f.compile_to_bitcode(prefix + ".bc", {p}, "f");
    f.compile_to_llvm_assembly(prefix + ".ll", {p}, "f", get_host_target());
    EXPECT(exists(prefix + ".stmt") && exists(prefix + ".o") && exists(prefix + ".h"));
    EXPECT(exists(prefix + ".s") && exists(prefix + ".bc") && exists(prefix + ".ll"));
    f.compile_to_static_library(prefix, {p}, "f");
    EXPECT(exists(prefix + ".a") && exists(prefix + ".h"));
    f.compile_to_file(prefix, {p}, "f");
    EXPECT(exists(prefix + ".o") && exists(prefix + ".h"));
    Pipeline(f).compile_to({{OutputFileType::object, prefix + ".o"}}, {p}, "f", get_host_target());
    EXPECT(exists(prefix + ".o"));
    return 0;
}

PROGRAM(exceptions) {
    EXPECT(exceptions_enabled());
    bool error = false;
    try {
        Func f;
        Var x;
        f(x) = x;
        f.vectorize(x).unroll(Var("q"));
        f.realize({10});
    } catch (const Halide::CompileError &e) {
        error = true;
    }
    EXPECT(error);
    error = false;
    try {
        Func f, g;
        Var x;
        f(x) = x;
        f(x) += 1.5f;
    } catch (const Halide::Error &e) {
        error = strlen(e.what()) > 0;
    }
    EXPECT(error);
    error = false;
    try {
        ImageParam im(Int(32), 1);
        Func f;
        Var x;
        f(x) = im(x);
        im.set(Buffer<int>(10));
        f.realize({100});
    } catch (const Halide::RuntimeError &e) {
        error = true;
        std::string what = e.what();
        EXPECT(!what.empty());
    }
    EXPECT(error);
    error = false;
    try {
        Func f;
        f.realize({3});
    } catch (const std::exception &) {
        error = true;
    }
    EXPECT(error);
    std::exception_ptr p;
    try {
        throw Halide::InternalError("made by hand");
    } catch (const Halide::Error &) {
        p = std::current_exception();
    }
    EXPECT(p);
    // A pipeline works after it has failed.
    ImageParam in(Int(32), 1);
    Func f;
    Var x;
    f(x) = in(x) * 2;
    in.set(Buffer<int>(4));
    for (int i = 0; i < 3; i++) {
        try {
            f.realize({8});
            return 1;
        } catch (const Halide::RuntimeError &) {
        }
    }
    Buffer<int> b(8);
    b.fill(3);
    in.set(b);
    Buffer<int> o = f.realize({8});
    EXPECT(o(7) == 6);
    return 0;
}

struct CountingContext : public JITUserContext {
    std::string text;
    std::atomic<int> mallocs{0}, frees{0}, tasks{0};
};

PROGRAM(contexts) {
    Func f, g;
    Var x, y;
    g(x, y) = print_when(x == 3 && y == 2, x + y, "here");
    f(x, y) = g(x, y) + g(x + 1, y);
    g.compute_root();
    f.parallel(y);
    CountingContext ctx;
    ctx.handlers.custom_print = [](JITUserContext *c, const char *m) {
        ((CountingContext *)c)->text += m;
    };
    ctx.handlers.custom_malloc = [](JITUserContext *c, size_t n) -> void * {
        ((CountingContext *)c)->mallocs++;
        void *p;
        if (posix_memalign(&p, 128, n + 128)) return nullptr;
        return p;
    };
    ctx.handlers.custom_free = [](JITUserContext *c, void *p) {
        ((CountingContext *)c)->frees++;
        free(p);
    };
    ctx.handlers.custom_do_task = [](JITUserContext *c, int (*t)(JITUserContext *, int, uint8_t *),
                                     int i, uint8_t *closure) {
        ((CountingContext *)c)->tasks++;
        return t(c, i, closure);
    };
    Buffer<int> o = f.realize(&ctx, {20, 20});
    EXPECT(ctx.text == "5 here\n" && ctx.mallocs == ctx.frees && ctx.mallocs > 0 &&
           ctx.tasks == 20);
    Pipeline p({f});
    p.realize(&ctx, {20, 20});
    p.realize(&ctx, o);
    Callable c = f.compile_to_callable({});
    c(&ctx, o);
    EXPECT(ctx.tasks == 80);
    // Memory that is not there.
    CountingContext none;
    static std::string message;
    none.handlers.custom_malloc = [](JITUserContext *, size_t) -> void * { return nullptr; };
    none.handlers.custom_free = [](JITUserContext *, void *) {};
    none.handlers.custom_error = [](JITUserContext *, const char *m) { message = m; };
    f.realize(&none, o);
    EXPECT(!message.empty());
    return 0;
}

PROGRAM(threads) {
    Func f;
    Var x, y;
    Param<int> p;
    f(x, y) = x * y + 1;
    f.parallel(y).vectorize(x, 8);
    f.compile_jit();
    std::vector<std::thread> threads;
    std::atomic<int> bad{0};
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 10; i++) {
                Buffer<int> out(64 + t, 32);
                f.realize(out);
                if (out(5, 6) != 31) bad++;
                Func g;
                Var u;
                g(u) = u + t;
                Buffer<int> o = g.realize({10});
                if (o(9) != 9 + t) bad++;
            }
        });
    }
    for (auto &t : threads) t.join();
    EXPECT(bad == 0);
    int before = Halide::Internal::JITSharedRuntime::set_num_threads(3);
    EXPECT(Halide::Internal::JITSharedRuntime::get_num_threads() == 3);
    Halide::Internal::JITSharedRuntime::set_num_threads(before);
    Halide::Internal::JITSharedRuntime::memoization_cache_set_size(1 << 20);
    Halide::Internal::JITSharedRuntime::release_all();
    Buffer<int> out(64, 32);
    f.realize(out);
    return 0;
}

PROGRAM(require_values) {
    Func f;
    Var x;
    Param<int> a, b;
    f(x) = require(a != b, x + a, "the parameters must differ:", a, b);
    f.vectorize(x, 4);
    a.set(1);
    b.set(2);
    Buffer<int> o = f.realize({8});
    EXPECT(o(7) == 8);
    b.set(1);
    std::string what;
    try {
        f.realize({8});
    } catch (const RuntimeError &e) {
        what = e.what();
    }
    EXPECT(what.find("the parameters must differ: 1 1") != std::string::npos);
    static int errors = 0;
    f.jit_handlers().custom_error = [](JITUserContext *, const char *) { errors++; };
    f.realize({8});
    EXPECT(errors == 1);
    return 0;
}

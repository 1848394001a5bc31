#include "error/refusal.h"
#include "lang/extern.h"
#include <atomic>
#include <cstdlib>

// What pipelines that run in this process call: handlers, functions given with set_jit_externs(),
// and which target they are compiled for.

using namespace tessera;

namespace {

std::atomic<int> early{0}, late{0}, events{0};

void *early_malloc(JITUserContext *, size_t n) { return early++, std::malloc(n + 128); }
void *late_malloc(JITUserContext *, size_t n) { return late++, std::malloc(n + 128); }
void give_back(JITUserContext *, void *p) { std::free(p); }
void early_error(JITUserContext *, const char *) { early++; }
void late_error(JITUserContext *, const char *) { late++; }
int32_t early_trace(JITUserContext *, const tessera_trace_event_t *) { return ++early; }
int32_t late_trace(JITUserContext *, const tessera_trace_event_t *) { return ++late; }
int32_t count_trace(JITUserContext *, const tessera_trace_event_t *) { return ++events; }
void early_print(JITUserContext *, const char *) { early++; }
void late_print(JITUserContext *, const char *) { late++; }
int early_par_for(JITUserContext *c, int (*f)(JITUserContext *, int, uint8_t *), int min, int size,
                  uint8_t *closure) {
    early++;
    for (int i = 0; i < size; i++) f(c, min + i, closure);
    return 0;
}
int late_par_for(JITUserContext *c, int (*f)(JITUserContext *, int, uint8_t *), int min, int size,
                 uint8_t *closure) {
    late++;
    for (int i = 0; i < size; i++) f(c, min + i, closure);
    return 0;
}

int adds_one(int x) { return x + 1; }
int adds_two(int x) { return x + 2; }
int fill_with_seven(tessera_buffer_t *out) {
    for (int i = 0; i < out->dim[0].extent; i++) reinterpret_cast<int *>(out->host)[i] = 7;
    return 0;
}

Expr context_of_call() { return ir::call(Handle(), ir::Intrinsic::user_context, {}); }

void expect_early_only() {
    CHECK(early > 0);
    CHECK(late == 0);
    early = late = 0;
}

}  // namespace

extern "C" inline int of_jit_handlers_test(int x) { return x; }
TesseraExtern_1(int, of_jit_handlers_test, int)

    TEST_SUITE("handlers of what runs in this process") {
    TEST_CASE("a Callable keeps those that its pipeline had when it was compiled") {
        for (bool of_pipeline : {false, true}) {
            early = late = 0;
            Var i("i");
            Func table("table"), sums("sums");
            table(i) = i * i;
            table.compute_root();
            sums(i) = table(i) + table(i + 1);
            sums.parallel(i);
            Pipeline p(sums);
            JITHandlers &h = of_pipeline ? p.jit_handlers() : sums.jit_handlers();
            h.custom_malloc = early_malloc;
            h.custom_free = give_back;
            Callable run = of_pipeline ? p.compile_to_callable({}) : sums.compile_to_callable({});
            h.custom_malloc = late_malloc;
            h.custom_do_par_for = late_par_for;
            Buffer<int> out(7000);
            run(out);
            CHECK(out(5) == 61);
            expect_early_only();
        }
    }
    TEST_CASE("of errors, traces, parallel loops and prints") {
        Var i("i");
        Param<int> n("n");
        Func f("f");
        f(i) = print(i + n);
        f.parallel(i).trace_stores();
        f.add_requirement(n > 0);
        f.jit_handlers() = {.custom_print = early_print,
                            .custom_do_par_for = early_par_for,
                            .custom_error = early_error,
                            .custom_trace = early_trace};
        Callable run = f.compile_to_callable({n});
        Callable copy = run;
        f.jit_handlers() = {.custom_print = late_print,
                            .custom_do_par_for = late_par_for,
                            .custom_error = late_error,
                            .custom_trace = late_trace};
        Buffer<int> out(3);
        early = late = 0;
        CHECK(copy(2, out) == 0);
        expect_early_only();
        CHECK(run(0, out) != 0);
        expect_early_only();
        // Handlers of the call's own context come first, as ever; realize() uses what is set now.
        JITUserContext context;
        context.handlers.custom_error = late_error;
        CHECK(run(&context, 0, out) != 0);
        CHECK(late > 0);
        early = late = 0;
        n.set(1);
        f.realize({3});
        CHECK(early == 0);
        CHECK(late > 0);
    }
    TEST_CASE("a Callable keeps the functions that it was compiled with") {
        Var i("i");
        Func f("f");
        f(i) = of_jit_handlers_test(i);
        f.set_jit_externs({{"of_jit_handlers_test", JITExtern(adds_one)}});
        Callable run = f.compile_to_callable({});
        f.set_jit_externs({{"of_jit_handlers_test", JITExtern(adds_two)}});
        Buffer<int> out(4), now = f.realize({4});
        run(out);
        CHECK(out(3) == 4);
        CHECK(now(3) == 5);
    }
    TEST_CASE("populate_jit_handlers completes those of a context") {
        JITUserContext context;
        context.handlers.custom_print = early_print;
        JITHandlers given;
        given.custom_print = late_print;
        given.custom_trace = early_trace;
        JITSharedRuntime::populate_jit_handlers(&context, given);
        CHECK((context.handlers.custom_print == early_print));
        CHECK((context.handlers.custom_trace == early_trace));
        CHECK((context.handlers.custom_error == nullptr));
        void *memory = context.handlers.custom_malloc(&context, 100);
        CHECK(memory != nullptr);
        context.handlers.custom_free(&context, memory);
        Var i("i");
        Func f("f"), g("g");
        f(i) = i;
        g(i) = f(i) + f(i + 1);
        f.compute_root();
        g.parallel(i);
        Buffer<int> b = g.realize(&context, {1000});
        CHECK(b(999) == 1999);
        REFUSED(JITSharedRuntime::populate_jit_handlers(nullptr, given), "the context is null");
    }
}

TEST_SUITE("the target of what runs in this process") {
    // Events of the whole pipeline come only if it was compiled for them.
    const Target traced = get_jit_target_from_environment().with_feature(Target::TracePipeline);

    TEST_CASE("realize() runs what compile_jit() has compiled") {
        for (int way = 0; way < 5; way++) {
            CAPTURE(way);
            Var i("i");
            Func f("f");
            f(i) = i;
            Func copy = f;
            Pipeline p(f);
            for (JITHandlers *h : {&f.jit_handlers(), &p.jit_handlers()})
                h->custom_trace = count_trace;
            way == 1   ? p.compile_jit(traced)
            : way == 2 ? copy.compile_jit(traced)
                       : f.compile_jit(traced);
            events = 0;
            if (way == 0) f.realize({3});
            if (way == 1) p.realize({3});
            if (way == 2) f.realize({3});
            if (way == 3) copy.realize({3});
            if (way == 4) f.vectorize(i, 4), f.realize({5});
            CHECK(events > 0);
            events = 0;
            const Target plain = get_jit_target_from_environment();
            f.realize({3}, plain);
            CHECK(events == 0);
            f.realize({3});  // as it was named last
            CHECK(events == 0);
        }
    }
    TEST_CASE("each pipeline by itself, and none before one was named") {
        Var i("i");
        Func f("f"), g("g");
        f(i) = i;
        g(i) = f(i);
        for (Func *h : {&f, &g}) h->jit_handlers().custom_trace = count_trace;
        events = 0;
        g.realize({3});
        f.compile_jit(traced);
        g.realize({3});
        CHECK(events == 0);
    }
    TEST_CASE(
        "one whose instructions this machine does not have is refused, but for the interpreter") {
        Var x("x");
        Func f("f");
        f(x) = x;
        Target t("x86-64-linux-avx-fma4");
        if (get_host_target().arch != Target::X86 || get_host_target().has_feature(Target::FMA4)) {
            return;
        }
        REFUSED(f.realize({8}, t), "this machine, which has no fma4; it is x86-64");
        REFUSED(f.compile_jit(t), "has no fma4");
        CHECK(Buffer<int>(f.realize({8}, t.with_feature(Target::Interpret)))(7) == 7);
        CHECK(Buffer<int>(f.realize({8}, Target("x86-64-linux")))(7) == 7);
    }
}

TEST_SUITE("Funcs as the functions of extern stages") {
    TEST_CASE("with the user context said, or not") {
        for (bool said : {false, true}) {
            Var i("i");
            Param<int> by("by");
            ImageParam from(Int(32), 1, "from");
            Func scaled("scaled"), f("f"), stage("stage"), out("out");
            scaled(i) = from(i) * by;
            f(i) = i + 1;
            std::vector<ExternFuncArgument> args = {f, 3};
            if (said) args.insert(args.begin(), context_of_call());
            stage.define_extern("scaled_elsewhere", args, Int(32), 1);
            out(i) = stage(i) + stage(i + 1);
            f.compute_root();
            stage.compute_root();
            out.set_jit_externs({{"scaled_elsewhere", JITExtern(scaled)}});
            for (bool interpret : {false, true}) {
                Target t = get_jit_target_from_environment();
                Buffer<int> b = out.realize({5}, interpret ? t.with_feature(Target::Interpret) : t);
                CHECK(b(4) == 15 + 18);
            }
        }
    }
    TEST_CASE("that hold a Buffer of their own, called in pieces") {
        Var i("i");
        Buffer<int> table(10);
        table.fill([](int at) { return at * at; });
        Func squares("squares"), stage("stage"), out("out");
        squares(i) = table(i);
        stage.define_extern("squares_elsewhere", {}, Int(32), {i});
        out(i) = stage(i) + 1;
        stage.compute_root().serial(i);
        out.set_jit_externs({{"squares_elsewhere", JITExtern(squares)}});
        Buffer<int> b = out.realize({8});
        CHECK(b(7) == 50);
        Callable run = out.compile_to_callable({});
        run(b);
        CHECK(b(3) == 10);
    }
    TEST_CASE("then a C function, which is passed no context") {
        Var i("i");
        Func seven("seven"), stage("stage");
        seven(i) = 7;
        stage.define_extern("seven_elsewhere", {}, Int(32), {i});
        Pipeline p(stage);
        p.set_jit_externs({{"seven_elsewhere", JITExtern(seven)}});
        Buffer<int> b = p.realize({3});
        p.set_jit_externs({{"seven_elsewhere", JITExtern(fill_with_seven)}});
        Buffer<int> c = p.realize({3});
        CHECK(b(2) + c(2) == 14);
    }
    TEST_CASE("that take something else than they are passed") {
        Var i("i"), j("j");
        Param<int> n("n");
        ImageParam image(Int(32), 1, "image");
        Func one("one"), two("two"), of_number("of_number"), of_image("of_image"), f("f");
        one(i) = i;
        two(i, j) = i + j;
        of_number(i) = n + i;
        of_image(i) = image(i);
        f(i) = i;
        f.compute_root();
        auto refused = [&](const std::vector<ExternFuncArgument> &args, const Func &function,
                           const char *part) {
            Func stage("stage");
            stage.define_extern("elsewhere", args, Int(32), {i});
            const int line = __LINE__ - 1;
            stage.set_jit_externs({{"elsewhere", JITExtern(function)}});
            REFUSED_AT(line, stage.realize({4}), part);
        };
        refused({}, two,
                "extern stage stage: set_jit_externs() makes the Func two the function "
                "elsewhere, which takes (a buffer of int32 with 2 dimensions), its "
                "parameters and then its values, but is passed (a buffer of int32 with 1 "
                "dimension)");
        refused({}, of_number, "which takes (int32, a buffer");
        refused({1.5f}, of_number, "but is passed (float32, a buffer");
        refused({1}, of_image, "but is passed (int32, a buffer");
        refused({f}, one, "but is passed (a buffer of int32 with 1 dimension, a buffer");
        refused({1, context_of_call()}, of_number, "but is passed (int32, handle, a buffer");
    }
    TEST_CASE("that an expression calls for one value") {
        Var i("i");
        Func one("one"), f("f");
        one(i) = i;
        f(i) = of_jit_handlers_test(i);
        const int line = __LINE__ - 1;
        f.set_jit_externs({{"of_jit_handlers_test", JITExtern(one)}});
        REFUSED_AT(line, f.realize({4}),
                   "f calls of_jit_handlers_test for one value, but set_jit_externs() makes that "
                   "the Func one, which computes buffers; give it a C function");
    }
    TEST_CASE("live as long as what calls them") {
        Var x("x");
        Func sub("my_sub"), ext("ext"), f("f");
        sub(x) = x * 3 + 1;
        ext.define_extern("my_sub", {}, Int(32), {x});
        ext.compute_root();
        f(x) = ext(x) + 1;
        f.set_jit_externs({{"my_sub", JITExtern(sub)}});
        Callable c = f.compile_to_callable({});
        Buffer<int> out(10);
        for (int round = 0; round < 2; round++) {
            c(out);
            CHECK(out(9) == 29);
            out.fill(0);
            f.realize(out);
            CHECK(out(9) == 29);
            JITSharedRuntime::release_all();
        }
    }
}

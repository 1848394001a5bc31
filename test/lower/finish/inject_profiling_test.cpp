#include "ir/operators.h"
#include "lower/finish/inject_profiling.h"
#include "lower/finish/runtime_calls.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
std::string profiled(std::string_view text) {
    Context context;
    context.target.set_feature(Target::Profile);
    ir::Stmt s = apply(inject_profiling, ir::parse_stmt(text), context);
    std::string all = to_string(s), start = "profiler_error == 0, profiler_error\n";
    CHECK(all.find("let profiler = alloca(") == 0);
    return all.substr(all.find(start) + start.size());
}
// As it is printed where the type of the profiler's instance is known.
std::string expected(std::string_view text) {
    std::string all = printed(text), type = ":handle";
    return all.erase(all.find(type), type.size());
}
}  // namespace

TEST_SUITE("inject_profiling") {
    TEST_CASE("nothing without the feature") {
        CHECK(run(inject_profiling, "produce f: f[0] = 1") == printed("produce f: f[0] = 1"));
    }
    TEST_CASE("a producer is the current function") {
        CHECK(profiled("produce f: f[0] = 1\nh[0] = 2") ==
              expected("profiler_enter_func(profiler:handle, 1)\n"
                       "produce f: f[0] = 1\n"
                       "profiler_set_current_func(profiler, 0)\n"
                       "h[0] = 2"));
    }
    TEST_CASE("but not one that is left out") {
        const char *text = "produce f unprofiled:\n    allocate f: int32[n] in Heap\n    f[0] = 1";
        CHECK(profiled(text) == printed(text));
    }
    TEST_CASE("functions are numbered as they are complete, and each once") {
        const std::string text = profiled("produce g:\n    produce f: f[0] = 1\n    g[0] = f[0]\n"
                                          "produce f: f[0] = 2");
        CHECK(text.find("profiler_enter_func(profiler, 2)\nproduce g:") == 0);
        CHECK(text.find("profiler_enter_func(profiler, 3)") == text.npos);
    }
    TEST_CASE("the report has the name of the last output") {
        Context context;
        context.target.set_feature(Target::Profile);
        const std::string text =
            run_on_function(inject_profiling, "a: output int32[1] of f, b: output int32[1] of g",
                            "    no_op", context);
        CHECK(text.find("profiler_instance_start(\"g\", 1, ") != text.npos);
    }
    TEST_CASE("threads are counted in parallel loops") {
        CHECK(profiled("parallel for i in [0, +9): h[i] = 2") ==
              expected("profiler_decr_active_threads(profiler:handle)\n"
                       "parallel for i in [0, +9):\n"
                       "    profiler_incr_active_threads(profiler)\n"
                       "    h[i] = 2\n"
                       "    profiler_decr_active_threads(profiler)\n"
                       "profiler_incr_active_threads(profiler)"));
    }
    TEST_CASE("a kernel is timed for the stage whose loops over blocks it has") {
        CHECK(profiled("gpu_block for b in [0, +9) of f x update 1: f[b] = 2") ==
              expected("profiler_device_begin(profiler:handle, \"f.update(1)\")\n"
                       "gpu_block for b in [0, +9) of f x update 1: f[b] = 2\n"
                       "profiler_device_end(profiler)"));
    }
    TEST_CASE("a copy between host and device is timed for its buffer") {
        CHECK(profiled("let e = copy_to_device(f:handle)\nassert e == 0, e") ==
              expected("profiler_device_begin(profiler:handle, \"f\")\n"
                       "let e = copy_to_device(f:handle)\n"
                       "profiler_device_end(profiler)\n"
                       "assert e == 0, e"));
    }
    TEST_CASE("memory on the heap and on the stack") {
        std::string heap = profiled("allocate f.1 of f: int32[n] in Heap\nproduce f: f.1[0] = 1");
        CHECK(heap.find("profiler_memory_allocate(profiler") != std::string::npos);
        CHECK(heap.find("profiler_memory_free(") != std::string::npos);
        std::string stack = profiled("allocate f: int32[8] in Stack\nproduce f: f[0] = 1");
        CHECK(stack.find("profiler_stack_peak(") != std::string::npos);
    }
}

TEST_SUITE("end_of_scope") {
    TEST_CASE("what was begun by a let") {
        auto end = [](std::string_view text) {
            ir::Expr e = end_of_scope(*ir::parse_stmt(text).as<ir::LetStmt>());
            return e.defined() ? to_string(e) : "";
        };
        CHECK(end("let m = mutex_array_create(9)\nno_op") == "mutex_array_destroy(m:handle)");
        CHECK(end("let e = profiler_instance_start(0, 0, 0, i:handle)\nno_op") ==
              "if_then_else(e == 0, profiler_instance_end("
              "i:handle), 0)");
        CHECK(end("let e = extern int32 other(i:handle)\nno_op") == "");
    }
    TEST_CASE("what was begun by a let whose parts have names") {
        auto end = [](std::string_view text) {
            return to_string(end_of_scope(*ir::parse_stmt(text).as<ir::LetStmt>()));
        };
        CHECK(end("let b = (let n = max(w, 0) in device_buffer(0, 0, 32, 1, 0, n, n))\nno_op") ==
              "device_free(b:handle)");
        CHECK(end("let m = (let n = w*4 in mutex_array_create(n))\nno_op") ==
              "mutex_array_destroy(m:handle)");
        CHECK(end("let e = (let n = w*4 in device_part(a:handle, int64(n), p:handle))\nno_op") ==
              "device_release_crop(p:handle)");
        CHECK(end("let e = (let q = p:handle in device_part(a:handle, 0, q:handle))\nno_op") ==
              "let q = p:handle in device_release_crop(q)");
    }
}

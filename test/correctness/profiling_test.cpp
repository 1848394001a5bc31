#include "harness.h"
#include <iostream>

using namespace tessera;
using namespace tessera::test;

namespace {

// How often each Func of the pipeline began to be computed in a profiled run.
std::map<std::string, uint64_t> calls_of(Func output, const std::vector<int32_t> &sizes,
                                         Target::Feature feature = Target::Profile) {
    REQUIRE(tessera_profiler_reset() == 0);
    output.realize(sizes, get_host_target().with_feature(feature));
    std::map<std::string, uint64_t> calls;
    tessera_profiler_func_stats_t stats;
    for (int i = 0; tessera_profiler_get_func(output.name().c_str(), i, &stats); i++) {
        calls[stats.name] = stats.calls;
    }
    return calls;
}

// What is written to std::cerr meanwhile.
template<typename F> std::string printed(F f) {
    std::ostringstream text;
    std::streambuf *before = std::cerr.rdbuf(text.rdbuf());
    f();
    std::cerr.rdbuf(before);
    return text.str();
}

Var x("x"), y("y");

}  // namespace

TEST_SUITE("looking at a pipeline") {
    TEST_CASE("a profiled run counts each Func, but for those that are left out") {
        auto build = [&](bool profiled) {
            Func f("f"), g("g"), out("profiled");
            f(x, y) = x + y;
            g(x, y) = f(x, y) * 2;
            out(x, y) = f(x, y) + g(x, y);
            f.compute_at(out, y);
            g.compute_at(out, y);
            if (!profiled) f.no_profiling();
            return out;
        };
        auto all = calls_of(build(true), {4, 6});
        CHECK(all["profiled"] == 1);
        CHECK(all["g"] == 6);
        CHECK(all["f"] == 6);
        CHECK(calls_of(build(true), {4, 6}, Target::ProfileByTimer) == all);
        auto fewer = calls_of(build(false), {4, 6});
        CHECK(fewer["g"] == 6);
        CHECK(fewer.count("f") == 0);
        std::string report;
        static std::string *text;
        text = &report;
        tessera_print_t before =
            tessera_set_custom_print([](void *, const char *s) { *text += s; });
        tessera_profiler_report(nullptr);
        tessera_set_custom_print(before);
        CHECK(report.find("profiled\n  total time: ") != std::string::npos);
        REQUIRE(tessera_profiler_reset() == 0);
    }
    TEST_CASE("a profiled run is followed by its report") {
        Func f("reported");
        f(x) = x;
        static int reports;
        reports = 0;
        JITHandlers handlers;
        handlers.custom_print = [](JITUserContext *, const char *text) {
            reports += std::string(text).find("reported\n  total time: ") != std::string::npos;
        };
        JITUserContext context;
        context.handlers = handlers;
        Target t = get_host_target().with_feature(Target::Profile);
        f.realize(&context, {4}, t);
        CHECK(reports == 1);
        Buffer<int> out(4);
        f.compile_to_callable({}, t)(&context, out);
        CHECK(reports == 2);
        f.realize(&context, {4}, get_host_target());
        CHECK(reports == 2);
        REQUIRE(tessera_profiler_reset() == 0);
    }
    TEST_CASE("without Target::Profile nothing is counted") {
        Func f("unprofiled");
        f(x) = x;
        f.realize({4});
        tessera_profiler_pipeline_stats_t stats;
        CHECK_FALSE(tessera_profiler_get_pipeline("unprofiled", &stats));
    }
    TEST_CASE("print_loop_nest shows loops, storage and what is computed where") {
        Func f("f"), g("g");
        Var xi("xi");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + f(x, y + 1);
        g.split(x, x, xi, 4).vectorize(xi).parallel(y);
        f.compute_at(g, x).unroll(y);
        std::string text = printed([&] { g.print_loop_nest(); });
        CHECK(text == printed([&] { Pipeline(g).print_loop_nest(); }));
        CHECK(text == "produce g:\n"
                      "  for g.outermost in [0, 0]:\n"
                      "    parallel g.y:\n"
                      "      for g.x:\n"
                      "        store f:\n"
                      "          produce f:\n"
                      "            for f.outermost in [0, 0]:\n"
                      "              unrolled f.y:\n"
                      "                for f.x:\n"
                      "                  f(...) = ...\n"
                      "          consume f:\n"
                      "            vectorized g.xi in [0, 3]:\n"
                      "              g(...) = ...\n");
    }
}

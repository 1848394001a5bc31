#include "lower/program_test.h"

using namespace tessera;
using namespace tessera::lower;
using namespace tessera::program;

namespace {

const ir::Expr x = var("x"), y = var("y");

ParameterRef image(const char *name, int dimensions) {
    return make_buffer_parameter(Symbol::fresh(name), Int(32), dimensions);
}
ir::Expr at(const ParameterRef &im, std::vector<ir::Expr> args) {
    return ir::Call::make(im->type, im->name, CallKind::Image, 0, std::move(args), im);
}

// A row of f is fetched two iterations before it is read.
Small prefetching(PrefetchBoundStrategy strategy) {
    Small f{"f", x * y};
    Small out{"out", f(x, y)};
    f.compute_root();
    Symbol row = Symbol::interned("y");
    return out.loops(PrefetchDirective{f.f->name, row, row, 2, strategy});
}

}  // namespace

TEST_SUITE("regions") {
    TEST_CASE("a stencil needs as much more as it reaches") {
        Small f{"f", x * y};
        Small out{"out", f(x - 1, y) + f(x + 2, y + 3)};
        f.compute_root();
        CHECK(Passes::has(Passes(out).after("loop nests"),
                          {"let `f.x.min` = `out.x.min` - 1", "let `f.x.max` = `out.x.max` + 2",
                           "let `f.y.min` = `out.y.min`", "let `f.y.max` = `out.y.max` + 3"}));
    }
    TEST_CASE("a gather through clamp needs what the clamp allows, whatever is gathered by") {
        ParameterRef index = image("index", 1);
        Small f{"f", x * 3, {"x"}};
        Small out{"out", f(clamp(at(index, {x}), 2, 17)), {"x"}};
        f.compute_root();
        CHECK(Passes::has(Passes(out).after("loop nests"),
                          {"let `f.x.min` = 2", "let `f.x.max` = 17"}));
    }
    TEST_CASE("a gather by a small type needs what the type can say") {
        ParameterRef index = make_buffer_parameter(Symbol::fresh("index"), UInt(8), 1);
        Small f{"f", x * 3, {"x"}};
        Small out{"out", f(cast(Int(32), at(index, {x})) + 5), {"x"}};
        f.compute_root();
        CHECK(Passes::has(Passes(out).after("loop nests"),
                          {"let `f.x.min` = 5", "let `f.x.max` = 260"}));
    }
    TEST_CASE("a gather by anything is refused") {
        ParameterRef index = image("index", 1);
        Small f{"f", x * 3, {"x"}};
        Small out{"out", f(at(index, {x})), {"x"}};
        f.compute_root();
        CHECK_THROWS_WITH_AS(Passes p(out), doctest::Contains("clamp()"), CompileError);
    }
}

TEST_SUITE("skipped stages of programs") {
    TEST_CASE("a stage is computed if what reads it will run") {
        ParameterRef p = make_scalar_parameter(Symbol::fresh("p"), Int(32));
        Small f{"f", x * 3, {"x"}};
        Small out{"out", select(parameter_value(p) > 3, f(x), 0), {"x"}};
        f.compute_root();
        Passes passes(out);
        CHECK(passes.before("skip stages").find("if 4 <= p") == std::string::npos);
        CHECK(
            Passes::has(passes.after("skip stages"), {"produce f:\n", "if 4 <= p:", "f(`f.x`) ="}));
    }
    TEST_CASE("not by what is known only when it has run, or differs from point to point") {
        Small f{"f", x * 3, {"x"}};
        Small out{"out", select(x % 3 == 0, f(x), 0) + select(f(x) > 3, f(x), 0), {"x"}};
        f.compute_root();
        Passes passes(out);
        CHECK(passes.before("skip stages") == passes.after("skip stages"));
    }
}

TEST_SUITE("prefetch") {
    TEST_CASE("a row two iterations ahead, as far as there are rows") {
        Passes p(prefetching(PrefetchBoundStrategy::GuardWithIf));
        CHECK(Passes::has(p.after("loop nests"),
                          {"for `out.y`", "prefetch f: {int32} over ", "`out.y` + 2, +1", "if "}));
        CHECK(Passes::has(p.after("lower prefetch"),
                          {"if ", "prefetch(address_of(f(", "for `out.x`"}));
    }
    TEST_CASE("the last row again, where there is no later one") {
        Passes p(prefetching(PrefetchBoundStrategy::Clamp));
        CHECK(Passes::has(p.after("loop nests"), {"prefetch f", "min(", " if true"}));
    }
    TEST_CASE("of what the stage itself writes: the tile that comes next") {
        Small f{"f", x * y};
        const Symbol var_x = Symbol::interned("x");
        const Symbol xi = Symbol::interned("xi");
        f.loops(Split{var_x, var_x, xi, 8, TailStrategy::RoundUp})
            .loops(PrefetchDirective{f.f->name, var_x, var_x, 1, PrefetchBoundStrategy::Clamp});
        Passes p(f);
        CHECK(Passes::has(p.after("loop nests"),
                          {"for `f.y`", "for `f.x`", "prefetch f: {int32} over ", "min(`f.x` + 1",
                           ", +8], [`f.y`, +1] if true", "for `f.xi`"}));
        CHECK(Passes::has(p.after("lower prefetch"), {"prefetch(address_of(f(", "for `f.xi`"}));
    }
    TEST_CASE("without a look where that is") {
        Passes p(prefetching(PrefetchBoundStrategy::NonFaulting));
        CHECK(Passes::has(p.after("loop nests"), {"prefetch f", "`out.y` + 2, +1", " if true"}));
    }
    TEST_CASE("storage says what the target asks for, and what the schedule does") {
        const auto storage = [](const program::Trace &trace, const char *target) {
            Small f("f", var("x"), {"x"}), g("g", f(var("x")), {"x"});
            f.compute_root().schedule(trace);
            const std::string text = Passes(g, Target(target)).after("loop nests");
            const size_t at = text.find("realize f");
            return text.substr(at, text.find(" over", at) - at);
        };
        CHECK(storage({}, "x86-64-linux") == "realize f: {int32}");
        CHECK(storage({}, "x86-64-linux-trace_stores") == "realize f: {int32} traced stores");
        CHECK(storage({.loads = true, .tag = "t"}, "x86-64-linux") ==
              "realize f: {int32} traced loads \"t\"");
    }
}

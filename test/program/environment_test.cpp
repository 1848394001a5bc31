#include "base/thread_dialect.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "program/canonical.h"
#include "program/define.h"
#include "program/environment.h"
#include "program/wrappers.h"
#include <algorithm>
#include <ctime>
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::program;
using ir::Expr;

namespace {

const Symbol x = Symbol::interned("x");

Expr var(Symbol s) { return ir::Variable::make(Int(32), s); }

FunctionRef make(const char *name, const Expr &value) {
    FunctionRef f = make_function(Symbol::fresh(name));
    define_pure(f, {x}, {value}, {});
    return f;
}

std::vector<std::string> names(const Environment &env) {
    std::vector<std::string> result;
    for (const FunctionRef &f : env.order) result.push_back(f->name.text());
    return result;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_SUITE("environment") {
    TEST_CASE("producers come before consumers") {
        FunctionRef a = make("a", var(x)), b = make("b", call(a, {var(x)}));
        FunctionRef c = make("c", call(a, {var(x) + 1}) * 2);
        FunctionRef d = make("d", call(c, {var(x)}) + call(b, {var(x)}));
        CHECK(names(find_transitive_calls({d})) == Names{"a", "c", "b", "d"});
        CHECK(names(find_transitive_calls({b, d})) == Names{"a", "b", "c", "d"});
    }
    TEST_CASE("a chain of thousands of functions is walked in a moment") {
        FunctionRef f = make("first", var(x));
        for (int i = 0; i < 5000; i++) f = make("f", call(f, {var(x)}) + 1);
        std::clock_t begin = std::clock();  // of this process: others may be busy
        Program p;
        p.outputs = {f};
        CHECK(copy_reachable(p).environment.order.size() == 5001);
        CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < 2);
    }
    TEST_CASE("a copy may be changed without harm to the original") {
        FunctionRef f = make("f", var(x));
        Program p;
        p.outputs = {f};
        ProgramCopy copy = copy_reachable(p);
        copy.program.outputs[0]->stages[0]->schedule.loops.clear();
        copy.program.outputs[0]->schedule.compute_level = LoopLevel::root();
        CHECK(f->stages[0]->schedule.loops.size() == 2);
        CHECK(f->schedule.compute_level.means_inlined());
        CHECK(copy.environment.functions.at(f->name) == copy.program.outputs[0]);
    }
    TEST_CASE("consumers call the wrapper that was made for them") {
        FunctionRef f = make("f", var(x)), g = make("g", call(f, {var(x)}));
        FunctionRef h = make("h", call(f, {var(x)}) + call(g, {var(x)}));
        FunctionRef w = wrap(f, {g}, {});
        CHECK(wrap(f, {g}, {}) == w);
        Program p;
        p.outputs = {h};
        Environment env = copy_reachable(p).environment;
        CHECK(names(env) == Names{"f", "f_in_g", "g", "h"});
        auto callees = [&](const FunctionRef &of) {
            Names result;
            for (const FunctionRef &c : direct_callees(env.functions.at(of->name))) {
                result.push_back(c->name.text());
            }
            return result;
        };
        CHECK(callees(g) == Names{"f_in_g"});
        CHECK(callees(h) == Names{"f", "g"});
    }
    TEST_CASE("a wrapper for all, and a wrapper of a wrapper") {
        FunctionRef f = make("f", var(x)), g = make("g", call(f, {var(x)}));
        FunctionRef w = wrap(f, {}, {});
        FunctionRef w2 = wrap(w, {g}, {});
        Program p;
        p.outputs = {g};
        CHECK(names(copy_reachable(p).environment) == Names{"f", "f_in", "f_in_in_g", "g"});
        CHECK(w2.is_relative_of(f));
        CHECK(w2->wrapped == w->name);
    }
    TEST_CASE("a wrapper may be an output, and outlive what it wraps") {
        FunctionRef w;
        Expr use;
        {
            FunctionRef f = make("f", var(x));
            w = wrap(f, {}, {});
            use = call(w, {var(x)});
        }
        FunctionRef g = make("g", use);
        Program p;
        p.outputs = {g};
        CHECK(names(copy_reachable(p).environment) == Names{"f", "f_in", "g"});
    }
    TEST_CASE("a clone has the updates, and reads itself") {
        FunctionRef f = make("f", var(x));
        define_update(f, {var(x)}, {call(f, {var(x)}) + 1}, {});
        FunctionRef g = make("g", call(f, {var(x)}));
        FunctionRef c = clone(f, {g}, {});
        CHECK(c->stages.size() == 2);
        Program p;
        p.outputs = {g};
        CHECK(names(copy_reachable(p).environment) == Names{"f_clone", "g"});
    }
    TEST_CASE("parameters are found once, in the order in which they are met") {
        auto p = make_scalar_parameter(Symbol::fresh("p"), Int(32));
        auto b = make_buffer_parameter(Symbol::fresh("b"), Int(32), 1);
        Expr element = ir::Call::make(Int(32), b->name, CallKind::Image, 0, {var(x)}, b);
        FunctionRef f = make("f", element + parameter_value(p));
        FunctionRef g = make("g", call(f, {var(x)}) + parameter_value(p));
        Program program;
        program.outputs = {g};
        auto found = find_parameters(program, find_transitive_calls({g}));
        REQUIRE(found.size() == 2);
        CHECK(std::count(found.begin(), found.end(), p) == 1);
        CHECK(std::count(found.begin(), found.end(), b) == 1);
    }
    TEST_CASE("programs that differ only in their symbols have one canonical form") {
        auto build = [](int factor) {
            Program p;
            FunctionRef f = make("f", var(x) * factor);
            p.outputs = {make("g", call(f, {var(x) + 1}))};
            return canonical_form(copy_reachable(p));
        };
        CHECK(ir::equal(build(3), build(3)));
        CHECK(build(3).hash() == build(3).hash());
        CHECK_FALSE(ir::equal(build(3), build(4)));
    }
    TEST_CASE("random numbers without a seed know their definition and point") {
        reset_random_counters();
        FunctionRef f = make("f", random_call(Float(32), {}, {}));
        FunctionRef g = make("g", random_call(Float(32), {}, {}));
        const auto *in_f = f->stages[0]->values[0].as<ir::IntrinsicCall>();
        const auto *in_g = g->stages[0]->values[0].as<ir::IntrinsicCall>();
        REQUIRE(in_f->args.size() == 3);
        CHECK(in_f->args[2].as<ir::Variable>()->name == x);
        CHECK_FALSE(ir::equal(in_f->args[0], in_g->args[0]));
        CHECK_FALSE(ir::equal(in_f->args[1], in_g->args[1]));
    }
    TEST_CASE("copies, clones and wrappers follow the dialect of what they are made from") {
        const FunctionRef f = [&] {
            const ThreadDialect halide(Dialect::Halide);
            return make("f", var(x));
        }();
        FunctionRef user = make("user", call(f, {var(x)}));
        CHECK(f->dialect == Dialect::Halide);
        CHECK(user->dialect == Dialect::Tessera);
        CHECK(copy(*f)->dialect == Dialect::Halide);
        CHECK(copy_as(Symbol::fresh("g"), f)->dialect == Dialect::Halide);
        CHECK(wrap(f, {user}, {})->dialect == Dialect::Halide);
    }
}

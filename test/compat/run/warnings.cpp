#include "../program.h"

// Warnings of what is hardly meant, as programs hear of them.
namespace {
class Listener : public CompileTimeErrorReporter {
public:
    std::vector<std::string> warnings, errors;
    void warning(const char *message) override { warnings.emplace_back(message); }
    void error(const char *message) override { errors.emplace_back(message); }
};

// What is said while f runs.
template<typename F>
Listener heard(F f) {
    Listener listener;
    set_custom_compile_time_error_reporter(&listener);
    try {
        f();
    } catch (const Halide::Error &) {
    }
    set_custom_compile_time_error_reporter(nullptr);
    return listener;
}
bool warns(const Listener &l, const char *part) {
    return l.errors.empty() && l.warnings.size() == 1 &&
           l.warnings[0].find(part) != std::string::npos;
}
bool is_silent(const Listener &l) { return l.errors.empty() && l.warnings.empty(); }
}  // namespace

PROGRAM(warnings_of_definitions) {
    Var x;
    EXPECT(warns(heard([&] {
                     Func f("f");
                     f(x) = x;
                     f(x) = 2 * x;
                 }),
                 "this computes all of f anew"));
    EXPECT(is_silent(heard([&] {
        Func f, g;
        RDom r(0, 3);
        f(x) = x;
        f(x) = f(x) + 1;
        f(x) += r;
        f(0) = 3;
        f(r) = 5;
        f(x) = select(x > 1, 3, undef<int>());
        g(x) = Tuple(x, x);
        g(x) = Tuple(g(x)[1], 2);
        f.realize({5});
    })));
    EXPECT(warns(heard([&] {
                     Func f;
                     f(x) = require(Expr(3) * 5 == 16, x, "never");
                 }),
                 "never holds"));
    EXPECT(is_silent(heard([&] {
        Func f;
        f(x) = require(Expr(3) * 5 == 15 && x < 10, x, "fails at last");
        f.realize({20});
    })));
    return 0;
}
PROGRAM(warnings_of_schedules) {
    Var x, y;
    Func f("f"), g("g");
    f(x, y) = x;
    f(x, y) += y;
    f.vectorize(x, 4);
    EXPECT(warns(heard([&] { f.realize({8, 8}); }), "f.update().unscheduled()"));
    g(x, y) = x;
    g(x, y) += y;
    g.vectorize(x, 4).update().unscheduled();
    EXPECT(is_silent(heard([&] { g.realize({8, 8}); })));
    return 0;
}
PROGRAM(errors_are_heard) {
    Listener l = heard([] {
        Func f("nothing");
        f.realize({3});
    });
    EXPECT(l.warnings.empty() && l.errors.size() == 1);
    EXPECT(l.errors[0].find("nothing") != std::string::npos);
    return 0;
}
PROGRAM(loops_that_may_stay_serial) {
    auto unroll = [](Buffer<int> &result) {
        Var x;
        Param<int> n("n");
        RDom r(0, n);
        Func f("f");
        f(x) = 0;
        f(x) += r;
        f.update().unroll(r);
        n.set(5);
        result = f.realize({3});
    };
    Buffer<int> result;
    try {
        unroll(result);
        return 1;
    } catch (const CompileError &) {
    }
    setenv("HL_PERMIT_FAILED_UNROLL", "1", 1);
    const Listener l = heard([&] { unroll(result); });
    unsetenv("HL_PERMIT_FAILED_UNROLL");
    EXPECT(warns(l, "is not unrolled"));
    EXPECT(result(2) == 10);
    return 0;
}

PROGRAM(wrapper_of_one_asked_for_with_others) {
    Var x;
    Func f("f"), g("g"), h("h"), k("k");
    f(x) = x, g(x) = f(x) * 2, h(x) = f(x + 1), k(x) = g(x) + h(x);
    f.compute_root(), g.compute_root(), h.compute_root();
    Func of_g = f.in(g).compute_root();
    std::string name;
    Listener l = heard([&] { name = f.in({g, h}).name(); });
    EXPECT(name == of_g.name());
    EXPECT(warns(l, "g already uses f_in_g instead of f, which the other consumers go on reading"));
    Buffer<int> out = k.realize({8});
    EXPECT(out(3) == 10);
    return 0;
}

#include "../program.h"
#include "halide_thread_pool.h"

// Names of Halide::Internal beside the public ones, as programs use them to look at what is
// compiled.
namespace {
using namespace Halide::Internal;

class CountLoops : public IRVisitor {
public:
    int all = 0, over_y = 0;

protected:
    using IRVisitor::visit;
    void visit(const For *op) override {
        all++;
        over_y += op->name == "f.y" && starts_with(op->name, "f.") && ends_with(op->name, ".y");
        op->body.accept(this);
    }
};

class SumConstants : public IRVisitor {
public:
    int64_t sum = 0;

protected:
    void visit(const IntImm *op) override { sum += op->value; }
};

// A pass that only looks.
template<typename Looker>
class Look : public IRMutator {
public:
    explicit Look(Looker &looker) : looker(looker) {}
    Stmt mutate(const Stmt &s) override {
        s.accept(&looker);
        return s;
    }
    using IRMutator::mutate;

private:
    Looker &looker;
};
}  // namespace

extern "C" int thrice(int x) { return 3 * x; }

PROGRAM(visitors_are_accepted) {
    Var x("x"), y("y");
    Func f("f");
    f(x, y) = x + y;
    f.vectorize(x, 4);
    CountLoops in_module, in_pass;
    Module m = f.compile_to_module(f.infer_arguments(), "f_in_module");
    EXPECT(m.functions().size() == 1);
    EXPECT(m.functions().front().name == "f_in_module");
    EXPECT(m.functions().front().args.size() == 1);
    for (const LoweredFunc &function : m.functions()) function.body.accept(&in_module);
    EXPECT(in_module.all > 1 && in_module.over_y == 1);

    f.add_custom_lowering_pass(new Look<CountLoops>(in_pass));
    f.realize({8, 8});
    EXPECT(in_pass.all > 1 && in_pass.over_y == 1);

    SumConstants constants;
    (Expr(x) * 5 + 7 * Expr(y)).accept(&constants);
    EXPECT(constants.sum == 12);
    return 0;
}
PROGRAM(extern_calls_by_name) {
    Var x;
    Func f;
    f(x) = Internal::Call::make(Int(32), "thrice", {x + 1}, Internal::Call::Extern) +
           Internal::Call::make(Int(32), "not_known", {x}, Internal::Call::PureExtern);
    Pipeline p(f);
    p.set_jit_externs({{"not_known", JITExtern(thrice)}});
    Buffer<int> result = p.realize({5});
    EXPECT(result(4) == 15 + 12);
    return 0;
}
PROGRAM(loop_levels_are_compared) {
    Var x("x"), y("y");
    Func f("compared"), g;
    f(x, y) = x;
    g(x, y) = f(x, y);
    LoopLevel level(f, x), other(f, y);
    EXPECT(level.lock() == LoopLevel(f, x) && !(level == other));
    EXPECT(LoopLevel::root() == LoopLevel::root() && level != LoopLevel::root());
    EXPECT(level.func() == f.name());
    EXPECT(Var::implicit(1).is_implicit() && Var::is_implicit("_1") && !x.is_implicit());
    return 0;
}
PROGRAM(half_floats_beside_expressions) {
    Var x;
    Func f, g;
    f(x) = cast<float16_t>(x) / 4 + float16_t(0.5f);
    Buffer<float16_t> halves = f.realize({8});
    EXPECT(float(halves(6)) == 2.0f);
    g(x) = cast<bfloat16_t>(x) * bfloat16_t(2.0f);
    Buffer<bfloat16_t> brain = g.realize({8});
    EXPECT(float(brain(3)) == 6.0f);
    Expr constant = float16_t(3.0f);
    EXPECT(constant.type() == Float(16));
    return 0;
}
PROGRAM(results_are_inputs) {
    Var x;
    ImageParam in(Int(32), 1);
    Func f, g;
    f(x) = x * x;
    g(x) = in(x) + 1;
    in.set(f.realize({10}));
    Buffer<int> result = g.realize({10});
    EXPECT(result(9) == 82);
    return 0;
}
PROGRAM(elements_by_fewer_coordinates) {
    Buffer<int> b(3, 4, 5);
    b.set_min(1, 2, 3);
    int calls = 0, sum = 0;
    b.for_each_element([&](int x, int y) {
        calls++;
        sum += x * y;
    });
    EXPECT(calls == 12 && sum == (1 + 2 + 3) * (2 + 3 + 4 + 5));
    return 0;
}
PROGRAM(pools_of_threads) {
    Halide::Tools::ThreadPool<int> pool(3);
    EXPECT(pool.num_processors_online() >= 1);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 20; i++) {
        results.push_back(pool.async(
            [](int n, int factor) {
                Func f;
                Var x;
                f(x) = x * factor;
                Buffer<int> b = f.realize({n + 1});
                return b(n);
            },
            i, 3));
    }
    for (int i = 0; i < 20; i++) EXPECT(results[i].get() == 3 * i);
    std::future<int> failed = pool.async([]() -> int { throw std::runtime_error("no"); });
    bool thrown = false;
    try {
        failed.get();
    } catch (const std::runtime_error &) {
        thrown = true;
    }
    std::atomic<int> done{0};
    {
        Halide::Tools::ThreadPool<void> others;
        for (int i = 0; i < 10; i++) others.async([&] { done++; });
    }
    EXPECT(thrown && done == 10);
    return 0;
}
PROGRAM(expressions_as_keys) {
    Var x("x");
    const Expr e = x + 1;
    std::map<Expr, int, ExprCompare> nodes;
    nodes[e]++;
    nodes[e]++;
    nodes[x + 1]++;  // another node that says the same
    EXPECT(nodes.size() == 2 && nodes[e] == 2);
    std::map<Expr, int, Internal::IRDeepCompare> values;
    values[e]++;
    values[x + 1]++;
    values[x + 2]++;
    EXPECT(values.size() == 2 && values[e] == 2);
    EXPECT(Internal::graph_equal(e, x + 1) && !Internal::graph_equal(e, x + 2));
    return 0;
}
namespace {
struct Pair {
    int first;
    float second;
};
}  // namespace
extern "C" int product_of_pair(Pair *p) { return p->first * int(p->second); }
HalideExtern_1(int, product_of_pair, Pair *);

PROGRAM(structs_for_functions) {
    Var x;
    Func f;
    const Expr pair = Internal::Call::make(type_of<Pair *>(), Internal::Call::make_struct,
                                           {x + 0, cast<float>(x + 1)}, Internal::Call::Intrinsic);
    f(x) = product_of_pair(pair);
    Buffer<int> result = f.realize({5});
    EXPECT(result(4) == 20);
    EXPECT(type_of<Pair *>().same_handle_type(pair.type()) && !Int(64).same_handle_type(Handle()));
    try {
        Internal::Call::make(Int(32), "make_nothing", {}, Internal::Call::PureIntrinsic);
    } catch (const CompileError &) {
        return 0;
    }
    return 1;
}

PROGRAM(constants_of_floats) {
    using Internal::as_const_float;
    using Internal::make_const;
    EXPECT(as_const_float(make_const(Float(32), 0.5)) == 0.5);
    EXPECT(as_const_float(make_const(BFloat(16), 1.5f)) == 1.5);
    EXPECT(Internal::as_const_int(make_const(Int(16), 2.75)) == 2);
    EXPECT(make_const(Float(64, 4), 0.25).type() == Float(64, 4));
    EXPECT(as_const_float(make_const(Float(32), 3)) == 3.0);
    return 0;
}

#include "lower/loops/unroll_loops.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "base/warning.h"
#include "ir/equal.h"
#include "ir/expr_table.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/loop_name.h"

namespace tessera::lower {
namespace {

using namespace ir;

// More copies than this are a mistake rather than a wish.
constexpr int64_t most_copies = 1 << 16;
// If all copies have more operations than this, the user is told that they take long to compile.
constexpr int64_t many_unrolled_operations = 200'000;

// Selects within one another that compare one expression with constants, as mux() makes them.
struct Choice {
    Expr index;  // undefined: the select is nothing of the kind
    std::unordered_map<int64_t, Expr> chosen;
    Expr otherwise;
};

Choice choice_of(const Expr &e) {
    Choice choice;
    Expr rest = e;
    while (const auto *s = rest.as<Select>()) {
        const auto *test = s->condition.as<EQ>();
        auto value = test ? as_const_int(test->b) : std::nullopt;
        bool fits = value && test->a.type().is_scalar() && test->a.type().is_int_or_uint() &&
                    (!choice.index.defined() || equal(choice.index, test->a));
        if (!fits) break;
        choice.index = test->a;
        choice.chosen.emplace(*value, s->true_value);  // the first one counts
        rest = s->false_value;
    }
    choice.otherwise = rest;
    return choice;
}

// Puts the number of one iteration after another in for a loop's variable. If it chooses one of
// several values, the others are not looked at: else a mux of n values in n iterations takes n * n.
class Iterations final {
public:
    explicit Iterations(Symbol name) : name(name) {}
    Stmt at(const Expr &value, const Stmt &body) { return Iteration(*this, value)(body); }

private:
    class Iteration final : public Mutator {
    public:
        Iteration(Iterations &all, const Expr &value) : all(all), value(value) {}

    private:
        Expr visit(const Variable &v) override { return v.name == all.name ? value : Expr(&v); }
        Expr visit(const Select &s) override {
            Expr e(&s);
            const Choice &choice = all.choices.get(e, [&] { return choice_of(e); });
            if (choice.chosen.size() < 2) return Mutator::visit(s);
            auto index = as_const_int(algebra::simplify((*this)(choice.index)));
            if (!index) return Mutator::visit(s);
            auto found = choice.chosen.find(*index);
            return (*this)(found == choice.chosen.end() ? choice.otherwise : found->second);
        }
        Iterations &all;
        const Expr value;
    };
    Symbol name;
    ExprTable<Choice> choices;
};

class UnrollLoops final : public Mutator {
public:
    UnrollLoops(const LoweredFunction &pipeline, const lower::Context &context)
        : pipeline(pipeline), context(context) {}

private:
    // Expressions have no loops in them.
    Stmt visit(const LetStmt &let) override {
        Stmt body = scope.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::body>(body);
    }
    Stmt visit(const IfThenElse &branch) override {
        return map_branches(scope, branch, [this](const Stmt &s) { return (*this)(s); });
    }
    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Provide &provide) override { return Stmt(&provide); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }

    Stmt visit(const For &loop) override {
        Stmt body = scope.within(loop, [&] { return (*this)(loop.body); });
        if (loop.loop_kind == LoopKind::Unrolled) return unroll(loop, body);
        return loop.with<&For::body>(body);
    }

    Stmt unroll(const For &loop, const Stmt &body);
    std::optional<int64_t> most_copies_of(const For &loop, const Expr &extent) const;
    Stmt serial_after_all(const For &loop, const Stmt &body) const;
    int64_t copies_of(const For &loop, const Expr &extent) const;
    void warn_of_many(const For &loop, int64_t copies, const Stmt &copy);

    const LoweredFunction &pipeline;
    const lower::Context &context;
    LetScope scope;
    bool warned = false;
};

// Warns once: a loop that is unrolled around it has more.
void UnrollLoops::warn_of_many(const For &loop, int64_t copies, const Stmt &copy) {
    auto operations = int64_t(count_nodes(copy));
    if (warned || copies * operations <= many_unrolled_operations) return;
    warned = true;
    warn(loop.origin.kind_written,
         str("unrolling ", loop_name(loop), " makes ", copies, " copies of its body, of ",
             operations,
             " operations each, and takes long to compile; split it by a smaller factor and "
             "unroll the inner loop"));
}

std::optional<int64_t> UnrollLoops::most_copies_of(const For &loop, const Expr &extent) const {
    std::optional<int64_t> most = algebra::constant_upper_bound(
        extent, scope.known_of_parameters(extent, pipeline.args, context.target));
    return most ? most : scope.upper_bound_by_conditions(loop.extent);
}

Stmt UnrollLoops::serial_after_all(const For &loop, const Stmt &body) const {
    warn(loop.origin.kind_written,
         str(loop_name(loop),
             " is not unrolled, as its extent is not a constant and has no constant upper bound"));
    return loop.with<&For::loop_kind, &For::body>(LoopKind::Serial, body);
}

int64_t UnrollLoops::copies_of(const For &loop, const Expr &extent) const {
    std::optional<int64_t> most = most_copies_of(loop, extent);
    Location at = loop.origin.kind_written;
    if (!most) {
        throw CompileError(at, str("cannot unroll ", loop_name(loop), ": its extent ",
                                   brief(algebra::simplify(extent, scope.known())),
                                   " is not a constant and has no constant upper bound; split it "
                                   "by a constant factor and unroll "
                                   "the inner loop, or give it a constant extent with bound() or "
                                   "bound_extent()"));
    }
    if (*most > most_copies) {
        throw CompileError(at, str("cannot unroll ", loop_name(loop), ": ", *most,
                                   " copies of its body are too many (", most_copies,
                                   " at most); split it and unroll the inner loop"));
    }
    return *most;
}

Stmt UnrollLoops::unroll(const For &loop, const Stmt &body) {
    Expr extent = scope.expand(loop.extent);
    std::optional<int64_t> exact = algebra::constant_value(extent, scope.known());
    if (!exact) exact = scope.value_by_conditions(loop.extent);
    if (context.permit_failed_unroll && !exact && !most_copies_of(loop, extent)) {
        return serial_after_all(loop, body);
    }
    int64_t count = exact && *exact <= most_copies ? *exact : copies_of(loop, extent);
    std::vector<Stmt> copies;
    Iterations iterations(loop.name);
    for (int64_t i = 0; i < count; i++) {
        Expr offset = make_const(loop.min.type(), i);
        Stmt copy = iterations.at(is_zero(offset) ? loop.min : loop.min + offset, body);
        if (!exact) copy = IfThenElse::make(offset < loop.extent, copy);
        if (i == 1) warn_of_many(loop, count, copy);
        copies.push_back(copy);
    }
    return Block::make(std::move(copies));
}

}  // namespace

Stmt unroll_loops(const LoweredFunction &pipeline, const Context &context) {
    return UnrollLoops(pipeline, context)(pipeline.body);
}

}  // namespace tessera::lower

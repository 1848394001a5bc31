#include "lower/storage/trim_conditions.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include <utility>
#include <vector>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

bool has_productions(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const ProducerConsumer &) { any = true; });
    return any;
}

// Returns the loop without the condition of its body, if that holds in the iterations from one to
// another.
Stmt without_condition(const For &loop) {
    std::vector<const LetStmt *> lets;
    Substitution known;
    Stmt s = loop.body;
    for (const auto *let = s.as<LetStmt>(); let; let = s.as<LetStmt>()) {
        known[let->name] = substitute(known, let->value);
        lets.push_back(let);
        s = let->body;
    }
    const auto *branch = s.as<IfThenElse>();
    if (!branch || branch->else_case.defined()) return Stmt(&loop);
    const Expr condition = simplify(remove_likely(substitute(known, branch->condition)));
    const algebra::Interval may = algebra::solve_for_outer_interval(condition, loop.name),
                            does = algebra::solve_for_inner_interval(condition, loop.name);
    const auto alike = [](const Expr &a, const Expr &b) {
        return a.defined() == b.defined() && (!a.defined() || equal(a, b));
    };
    if (!alike(may.min, does.min) || !alike(may.max, does.max)) return Stmt(&loop);
    Expr first = loop.min, end = loop.min + loop.extent;
    if (may.has_lower_bound()) first = max(first, may.min);
    if (may.has_upper_bound()) end = min(end, may.max + 1);
    Stmt body = branch->then_case;
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
        body = (*let)->with<&LetStmt::body>(body);
    return loop.with<&For::min, &For::extent, &For::body>(simplify(first), simplify(end - first),
                                                          body);
}

class TrimConditions final : public Mutator {
    Stmt visit(const For &loop) override {
        const bool outer =
            std::exchange(in_kernel, in_kernel || traits_of(loop.loop_kind).gpu == GPULevel::Block);
        const Stmt s = Mutator::visit(loop);
        const bool moves = in_kernel && loop.loop_kind == LoopKind::Serial;
        in_kernel = outer;
        return moves && has_productions(loop.body) ? without_condition(*s.as<For>()) : s;
    }
    Stmt visit(const Provide &p) override { return Stmt(&p); }

    bool in_kernel = false;
};

}  // namespace

Stmt trim_conditions(const Stmt &s, const Context &context) {
    return context.target.has_gpu_feature() ? TrimConditions()(s) : s;
}

}  // namespace tessera::lower

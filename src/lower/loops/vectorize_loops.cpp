#include "lower/loops/vectorize_loops.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/loops/accumulate.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_lanes.h"
#include "lower/loops/loop_name.h"

namespace tessera::lower {
namespace {

using namespace ir;

constexpr int64_t most_lanes = 4096;

class VectorizeLoops final : public Mutator {
public:
    VectorizeLoops(const LoweredFunction &pipeline, const lower::Context &context)
        : pipeline(pipeline), context(context) {}

private:
    Stmt visit(const LetStmt &let) override {
        Stmt body = scope.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::body>(body);
    }
    Stmt visit(const IfThenElse &branch) override {
        return map_branches(scope, branch, [this](const Stmt &s) { return (*this)(s); });
    }
    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const Atomic &node) override {
        // Under a mutex one element is updated at a time.
        if (node.mutexes.defined() && vectorized > 0) return Stmt(&node);
        atomics++;
        Stmt body =
            (*this)(vectorized > 0 || has_vectorized(node.body) ? without_lets_of_updates(node.body)
                                                                : node.body);
        atomics--;
        return node.with<&Atomic::body>(body);
    }
    Stmt visit(const For &loop) override {
        bool is_vectorized = loop.loop_kind == LoopKind::Vectorized;
        vectorized += is_vectorized;
        Stmt body = scope.within(loop, [&] { return (*this)(loop.body); });
        vectorized -= is_vectorized;
        if (is_vectorized) return vectorize(loop, body);
        return loop.with<&For::body>(body);
    }

    static bool has_vectorized(const Stmt &s) {
        bool found = false;
        for_each_node(s, [&](const For &f) { found |= f.loop_kind == LoopKind::Vectorized; });
        return found;
    }
    int64_t lanes_of(const For &loop, const Expr &extent) const;
    Stmt vectorize(const For &loop, const Stmt &body) const;

    const LoweredFunction &pipeline;
    const lower::Context &context;
    LetScope scope;
    int atomics = 0, vectorized = 0;
};

int64_t VectorizeLoops::lanes_of(const For &loop, const Expr &extent) const {
    std::optional<int64_t> count = algebra::constant_upper_bound(
        extent, scope.known_of_parameters(extent, pipeline.args, context.target));
    if (!count) count = scope.upper_bound_by_conditions(loop.extent);
    Location at = loop.origin.kind_written;
    if (!count) {
        throw CompileError(at, str("cannot vectorize ", loop_name(loop), ": its extent ",
                                   brief(algebra::simplify(extent, scope.known())),
                                   " is not a constant and has no constant upper bound; vectorize "
                                   "by a number of lanes, as in "
                                   "vectorize(x, 8), or split the loop by a constant factor and "
                                   "vectorize the inner one"));
    }
    if (*count > most_lanes) {
        throw CompileError(at, str("cannot vectorize ", loop_name(loop), ": ", *count,
                                   " lanes are too many (", most_lanes,
                                   " at most); split it and vectorize the inner loop"));
    }
    return *count;
}

Stmt VectorizeLoops::vectorize(const For &loop, const Stmt &body) const {
    Expr extent = scope.expand(loop.extent);
    std::optional<int64_t> exact = algebra::constant_value(extent, scope.known());
    if (!exact) exact = scope.value_by_conditions(loop.extent);
    int64_t count = exact && *exact <= most_lanes ? *exact : lanes_of(loop, extent);
    if (count <= 0) return no_op();
    // If the loop is shorter at times, the last lanes are masked.
    Stmt lanes = body;
    if (!exact) {
        Expr index = Variable::make(loop.min.type(), loop.name) - loop.min;
        lanes = IfThenElse::make(likely_if_innermost(index < loop.extent), body);
    }
    if (count == 1) return LetStmt::make(loop.name, loop.min, lanes);
    bool strict = context.target.has_feature(Target::StrictFloat);
    return loop_as_lanes(loop, lanes, int(count), atomics > 0, strict);
}

}  // namespace

Stmt vectorize_loops(const LoweredFunction &pipeline, const Context &context) {
    return VectorizeLoops(pipeline, context)(pipeline.body);
}

}  // namespace tessera::lower

#include "lower/storage/bound_small_allocations.h"
#include "algebra/bounds_scope.h"
#include "algebra/prove.h"
#include "ir/allocation.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/loops/let_scope.h"
#include <algorithm>

namespace tessera::lower {
namespace {

using namespace ir;

class BoundAllocations final : public Mutator {
    Stmt visit(const LetStmt &let) override {
        Stmt body = scope.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::body>(body);
    }
    Stmt visit(const For &loop) override {
        Stmt body = scope.within(loop, [&] { return (*this)(loop.body); });
        return loop.with<&For::body>(body);
    }
    // Conditions around it, of a specialization for example, may say how large it is at most.
    Stmt visit(const IfThenElse &branch) override {
        return map_branches(scope, branch, [this](const Stmt &s) { return (*this)(s); });
    }
    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const Allocate &a) override {
        const MemoryTraits traits = traits_of(a.memory);
        const bool wanted = traits.may_be_on_stack || traits.needs_constant_size;
        std::vector<Expr> extents = wanted ? bounded(a) : std::vector<Expr>();
        if (extents.empty() && traits.needs_constant_size) throw unbounded(a);
        Stmt body = (*this)(a.body);
        if (extents.empty()) extents = a.extents;
        return a.with<&Allocate::extents, &Allocate::body>(extents, body);
    }

    // Constant extents; none if the allocation needs more, or nobody knows how much.
    std::vector<Expr> bounded(const Allocate &a) const {
        int64_t most = a.memory == MemoryType::Auto ? most_on_stack_by_default : most_on_stack;
        int64_t bytes = a.type.bytes();
        std::vector<Expr> extents;
        for (const Expr &e : a.extents) {
            const Expr whole = scope.expand(e);
            auto bound =
                algebra::constant_upper_bound(whole, algebra::facts_about(whole, scope.known()));
            if (!bound) bound = scope.upper_bound_by_conditions(e);
            if (!bound || *bound > most) return {};
            extents.push_back(make_const(e.type(), std::max<int64_t>(*bound, 0)));
            bytes *= std::max<int64_t>(*bound, 1);
            if (bytes > most) return {};
        }
        return extents;
    }
    static CompileError unbounded(const Allocate &a) {
        return CompileError(a.facts.compute_written,
                            str(a.buffer,
                                " cannot be stored in registers: its size is not a "
                                "constant, or above ",
                                most_on_stack,
                                " bytes; bound it with "
                                "bound_extent() or bound_storage(), or store it elsewhere"));
    }

    LetScope scope;
};

}  // namespace

Stmt bound_small_allocations(const Stmt &s, const Context &) {
    const algebra::BoundsScope remembers;
    return BoundAllocations()(s);
}

}  // namespace tessera::lower

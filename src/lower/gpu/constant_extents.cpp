#include "lower/gpu/constant_extents.h"
#include "algebra/prove.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/let_scope.h"
#include <algorithm>

namespace tessera::lower {
namespace {

using namespace ir;

class ConstantExtents final : public Mutator {
public:
    // `only_ahead`: of what is computed ahead alone.
    explicit ConstantExtents(bool only_ahead) : only_ahead(only_ahead) {}

private:
    Stmt visit(const LetStmt &let) override {
        Stmt body = scope.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::body>(body);
    }
    Stmt visit(const For &loop) override {
        const bool is_kernel = is_over_blocks(loop);
        scope.push_loop(loop.name, loop.min, loop.extent);
        blocks += is_kernel;
        Stmt body = (*this)(loop.body);
        blocks -= is_kernel;
        scope.pop_loop(loop.name);
        return loop.with<&For::body>(body);
    }
    Stmt visit(const IfThenElse &branch) override {
        return map_branches(scope, branch, [this](const Stmt &s) { return (*this)(s); });
    }
    Stmt visit(const Provide &provide) override { return Stmt(&provide); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const Realize &realize) override {
        Stmt body = (*this)(realize.body);
        if (blocks == 0 || (only_ahead && !realize.storage.is_async))
            return realize.with<&Realize::body>(body);
        Region bounds = realize.bounds;
        for (size_t d = 0; d < bounds.size(); d++) {
            if (!has_promised_bound(realize, int(d))) bounds[d].extent = most_of(bounds[d].extent);
        }
        return realize.with<&Realize::bounds, &Realize::body>(bounds, body);
    }

    // The kernel compares the bound that bound_storage() has promised with the extent when it runs.
    static bool has_promised_bound(const Realize &realize, int d) {
        return std::ranges::any_of(realize.storage.order, [&](const StoredDimension &dim) {
            return dim.dim == d && dim.bound.defined();
        });
    }
    Expr most_of(const Expr &extent) const {
        constexpr int64_t most = 1024;  // beyond that, the bound may be far from what is used
        auto bound = algebra::constant_upper_bound(scope.expand(extent), scope.known());
        if (!bound) bound = scope.upper_bound_by_conditions(extent);
        if (!bound || *bound > most) return extent;
        return make_const(extent.type(), std::max<int64_t>(*bound, 0));
    }

    const bool only_ahead;
    LetScope scope;
    int blocks = 0;
};

}  // namespace

Stmt constant_extents_in_kernels(const Stmt &s, const Context &context) {
    return context.target.has_gpu_feature() ? ConstantExtents(false)(s) : s;
}

Stmt constant_extents_of_copies_ahead(const Stmt &s) { return ConstantExtents(true)(s); }

}  // namespace tessera::lower

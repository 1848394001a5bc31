#include "lower/gpu/unit_dimensions.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/loops/let_scope.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;

namespace {

// Finds how many elements of a ring buffer instructions read in each dimension, also where a
// condition keeps the loops that they replace from some.
class InstructionReads final : public Visitor {
public:
    explicit InstructionReads(const Realize &ring) : ring(ring), extents(ring.bounds.size(), 0) {
        (*this)(ring.body);
    }
    int64_t extent(size_t d) const { return extents[d]; }  // 0: none are read, or nobody knows

private:
    void visit(const For &loop) override {
        const bool outer = is_tensorized;
        is_tensorized |= loop.loop_kind == LoopKind::Tensorized;
        scope.within(loop, [&] {
            (*this)(loop.body);
            return 0;
        });
        is_tensorized = outer;
    }
    void visit(const LetStmt &let) override {
        scope.within(let, [&] {
            (*this)(let.body);
            return 0;
        });
    }
    void visit(const Call &c) override {
        Visitor::visit(c);
        if (c.callee != ring.func || !is_tensorized) return;
        for (size_t d = 0; d < extents.size(); d++) {
            const Expr at = algebra::simplify(scope.expand(c.args[d]));
            const auto last = algebra::constant_upper_bound(at, scope.known());
            if (last) extents[d] = std::max(extents[d], *last + 1);
        }
    }
    const Realize &ring;
    std::vector<int64_t> extents;
    LetScope scope;
    bool is_tensorized = false;
};

class DropUnitDimensions final : public Mutator {
    Stmt visit(const For &loop) override {
        const bool outer = in_kernel;
        in_kernel |= traits_of(loop.loop_kind).gpu == GPULevel::Block;
        const Stmt s = Mutator::visit(loop);
        in_kernel = outer;
        return s;
    }
    Stmt visit(const Realize &r) override {
        const bool is_plain = r.storage.order.empty() && r.storage.folds.empty();
        if (!in_kernel || !is_ring(r) || !is_plain) return Mutator::visit(r);
        return of_known_size(r.with<&Realize::bounds>(rounded_up(r)));
    }
    // What is computed of a ring buffer in the last iteration may be less than in others, and less
    // than instructions read.
    static Region rounded_up(const Realize &r) {
        const InstructionReads reads(r);
        Region bounds = r.bounds;
        for (size_t d = 0; d + 1 < bounds.size(); d++) {
            const auto most = algebra::constant_upper_bound(bounds[d].extent);
            const int64_t extent = std::max(most.value_or(0), reads.extent(d));
            if (extent > 0) bounds[d].extent = int32_t(extent);
        }
        return bounds;
    }
    Stmt of_known_size(const Stmt &realize) {
        const auto &r = *realize.as<Realize>();
        if (r.bounds.size() + 1 == left) return with_rows(r);
        std::vector<size_t> units;  // the last one first
        for (size_t d = r.bounds.size() - 1; d-- > 0;) {
            const bool is_unit = is_const(algebra::simplify(r.bounds[d].extent), 1);
            if (is_unit && r.bounds.size() - units.size() > left) units.push_back(d);
        }
        if (units.empty()) return Mutator::visit(r);
        dropped[r.func] = units;
        Region bounds = r.bounds;
        for (size_t d : units) bounds.erase(bounds.begin() + ptrdiff_t(d));
        const Stmt s = r.with<&Realize::bounds, &Realize::body>(bounds, (*this)(r.body));
        dropped.erase(r.func);
        return s;
    }
    static constexpr size_t left = 3;  // columns, rows and slots

    // Gives a ring buffer that has only columns and slots a dimension of one row between them.
    Stmt with_rows(const Realize &r) {
        Region bounds = r.bounds;
        bounds.insert(bounds.begin() + 1, Range{0, 1});
        of_one_row.insert(r.func);
        const Stmt s = r.with<&Realize::bounds, &Realize::body>(bounds, (*this)(r.body));
        of_one_row.erase(r.func);
        return s;
    }

    Expr visit(const Call &c) override {
        Expr e = Mutator::visit(c);
        if (!is_changed(c.callee)) return e;
        const Call &call = *e.as<Call>();
        return call.with<&Call::args>(changed(c.callee, call.args));
    }
    Stmt visit(const Provide &p) override {
        Stmt s = Mutator::visit(p);
        if (!is_changed(p.func)) return s;
        const Provide &provide = *s.as<Provide>();
        return provide.with<&Provide::args>(changed(p.func, provide.args));
    }
    bool is_changed(Symbol func) const {
        return dropped.contains(func) || of_one_row.contains(func);
    }
    std::vector<Expr> changed(Symbol func, std::vector<Expr> args) const {
        if (of_one_row.contains(func)) {
            args.insert(args.begin() + 1, Expr(0));
            return args;
        }
        for (size_t d : dropped.at(func)) args.erase(args.begin() + ptrdiff_t(d));
        return args;
    }

    bool in_kernel = false;
    std::unordered_map<Symbol, std::vector<size_t>> dropped;
    std::unordered_set<Symbol> of_one_row;
};

}  // namespace

Stmt drop_unit_dimensions(const Stmt &s, const Context &context) {
    return context.target.has_gpu_feature() ? DropUnitDimensions()(s) : s;
}

}  // namespace tessera::lower

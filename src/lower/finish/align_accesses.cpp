#include "lower/finish/align_accesses.h"
#include "algebra/linear.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/loops/let_scope.h"
#include "program/parameter.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

class AlignAccesses final : public Mutator {
public:
    explicit AlignAccesses(const std::unordered_set<Symbol> &aligned)
        : Mutator(Visits::PerUse), aligned(aligned) {}

private:
    Stmt visit(const LetStmt &let) override {
        const Expr value = (*this)(let.value);
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    Stmt visit(const For &loop) override {
        return loop.loop_kind == LoopKind::GPUBlock ? Stmt(&loop) : Mutator::visit(loop);
    }
    Expr visit(const Load &load) override {
        Expr same = Mutator::visit(load);
        if (!aligned.contains(load.buffer) || load.alignment != Alignment()) return same;
        return same.as<Load>()->with<&Load::alignment>(alignment_of(load.index));
    }
    Stmt visit(const Store &store) override {
        Stmt same = Mutator::visit(store);
        if (!aligned.contains(store.buffer) || store.alignment != Alignment()) return same;
        return same.as<Store>()->with<&Store::alignment>(alignment_of(store.index));
    }
    // Returns the alignment of the first lane.
    Alignment alignment_of(const Expr &index) const {
        const auto *ramp = index.as<Ramp>();
        const Expr &first = ramp ? ramp->base : index;
        if (first.type().is_vector()) return {};
        const Alignment found = algebra::alignment_of(first, lets.known());
        constexpr int64_t of_constants = 128;  // more than any access asks for
        if (found.modulus != 0) return found;
        return {of_constants, (found.remainder % of_constants + of_constants) % of_constants};
    }

    const std::unordered_set<Symbol> &aligned;
    LetScope lets;
};

}  // namespace

Stmt align_accesses(const LoweredFunction &pipeline, const Context &) {
    std::unordered_set<Symbol> aligned;
    for (const Argument &a : pipeline.args) {
        const program::Parameter *p = a.is_buffer() ? program::parameter_of(a) : nullptr;
        if (p && p->host_alignment > a.type.bytes()) aligned.insert(a.name);
    }
    return aligned.empty() ? pipeline.body : AlignAccesses(aligned)(pipeline.body);
}

}  // namespace tessera::lower

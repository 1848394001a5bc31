#include "lower/gpu/widen_quads.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"

namespace tessera::lower {

using namespace ir;

namespace {

constexpr int blocks = 4, of_block = 8, of_thread = 2;  // elements

// The stores of an operation, in terms of what is outside of it; none if there is anything else.
class StoresOf {
public:
    explicit StoresOf(const Stmt &s) { is_all &= read(s); }
    bool is_all = true;
    std::vector<Stmt> stores;

private:
    bool read(const Stmt &s) {
        if (const auto *let = s.as<LetStmt>()) {
            lets[let->name] = substitute(lets, let->value);
            return read(let->body);
        }
        if (const auto *block = s.as<Block>()) {
            bool all = true;
            for (const Stmt &each : block->stmts) all &= read(each);
            return all;
        }
        const auto *store = s.as<Store>();
        if (!store || store->predicate.defined()) return false;
        stores.push_back(substitute(lets, s));
        return true;
    }
    Substitution lets;
};

class WidenQuads final : public Mutator {
    Stmt visit(const MachineOp &op) override {
        if (op.op != MachineOpKind::store_quads) return Mutator::visit(op);
        const StoresOf found(op.body);
        if (!found.is_all || int(found.stores.size()) != blocks * of_thread) return Stmt(&op);
        const auto &first = *found.stores[0].as<Store>();
        std::vector<Expr> operands = op.operands;
        for (size_t i = 0; i < found.stores.size(); i++) {
            const auto &store = *found.stores[i].as<Store>();
            const auto offset = int32_t(i / of_thread * of_block + i % of_thread);
            const Expr distance = algebra::simplify(store.index - first.index);
            if (store.buffer != first.buffer || !is_const(distance, offset)) return Stmt(&op);
            operands.push_back(store.value);
        }
        const Expr &lane = op.operands.at(0);
        const Expr own = algebra::simplify(first.index + lane % blocks * (of_block - of_thread));
        const Type type = first.value.type().with_lanes(of_block);
        operands.push_back(call(Handle(), Intrinsic::address_of,
                                {Load::make(type, first.buffer, Ramp::make(own, 1, of_block))}));
        return op.with<&MachineOp::operands>(operands);
    }
};

}  // namespace

Stmt widen_quads(const Stmt &s, const lower::Context &) { return WidenQuads()(s); }

}  // namespace tessera::lower

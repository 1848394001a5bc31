#include "lower/gpu/widen_quads.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"

namespace tessera::lower {

using namespace ir;

namespace {

constexpr int threads = 4, of_block = 8, of_thread = 2;  // elements
constexpr int bytes = 16;                                // that each of the threads stores

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
        if (!found.is_all || found.stores.empty()) return Stmt(&op);
        const auto &first = *found.stores[0].as<Store>();
        const int wide = bytes / first.value.type().bytes();  // elements that a thread stores
        const bool is_scalar = first.value.type().is_scalar();
        if (!is_scalar || int(found.stores.size()) != wide) return Stmt(&op);
        std::vector<Expr> operands = op.operands;
        for (size_t i = 0; i < found.stores.size(); i++) {
            const auto &store = *found.stores[i].as<Store>();
            const auto offset = int32_t(i / of_thread * of_block + i % of_thread);
            const Expr distance = algebra::simplify(store.index - first.index);
            if (store.buffer != first.buffer || !is_const(distance, offset)) return Stmt(&op);
            operands.push_back(store.value);
        }
        const Expr own = algebra::simplify(first.index - own_elements(op.operands.at(0)) +
                                           own_place(op.operands.at(0), wide));
        const Type type = first.value.type().with_lanes(wide);
        operands.push_back(call(Handle(), Intrinsic::address_of,
                                {Load::make(type, first.buffer, Ramp::make(own, 1, wide))}));
        return op.with<&MachineOp::operands>(operands);
    }
    // Returns how far from the first of the columns a thread's own elements begin.
    static Expr own_elements(const Expr &lane) { return lane % threads * of_thread; }
    // Returns how far from there what it stores begins. Two threads exchange halves of two blocks
    // if four elements are 16 bytes; else each thread stores the blocks of its number.
    static Expr own_place(const Expr &lane, int wide) {
        if (wide == 4) return lane % 2 * of_block + lane / 2 % 2 * wide;
        return lane % threads * wide;
    }
};

}  // namespace

Stmt widen_quads(const Stmt &s, const lower::Context &) { return WidenQuads()(s); }

}  // namespace tessera::lower

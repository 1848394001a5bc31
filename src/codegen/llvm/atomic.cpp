#include "codegen/llvm/emitter.h"
#include "codegen/statements.h"
#include "ir/equal.h"
#include "ir/visitor.h"
#include "lower/finish/runtime_calls.h"
#include <unordered_set>

namespace tessera::codegen {
namespace {

// The x of buffer[index] + x, for atomicrmw.
const Expr *added_operand(const Store &node) {
    const auto *sum = node.value.as<Add>();
    if (!sum) return nullptr;
    auto is_old = [&](const Expr &e) {
        const auto *load = e.as<Load>();
        return load && load->buffer == node.buffer && equal(load->index, node.index);
    };
    auto other = [&](const Expr &e) { return !uses_symbol(e, node.buffer); };
    if (is_old(sum->a) && other(sum->b)) return &sum->b;
    return is_old(sum->b) && other(sum->a) ? &sum->a : nullptr;
}

// Moves the lets at the beginning that read nothing of what the Atomic stores to in front of it:
// they are computed once, not at each attempt to exchange and not under the lock.
Stmt lets_first(const Atomic &node) {
    std::unordered_set<Symbol> stored;
    for_each_node(node.body, [&](const Store &s) { stored.insert(s.buffer); });
    std::vector<const LetStmt *> outside;
    Stmt body = node.body;
    for (const LetStmt *let = body.as<LetStmt>(); let; let = body.as<LetStmt>()) {
        bool is_loaded = false;
        for_each_node(let->value, [&](const Load &l) { is_loaded |= stored.contains(l.buffer); });
        if (is_loaded || lower::end_of_scope(*let).defined()) break;
        outside.push_back(let);
        body = let->body;
    }
    if (outside.empty()) return Stmt(&node);
    Stmt s = node.with<&Atomic::body>(body);
    for (auto let = outside.rbegin(); let != outside.rend(); ++let) {
        s = LetStmt::make((*let)->name, (*let)->value, s);
    }
    return s;
}

}  // namespace

void Emitter::emit(const Atomic &atomic) {
    Stmt s = lets_first(atomic);
    if (s.as<LetStmt>()) return run(s);
    const Atomic &node = *s.as<Atomic>();
    if (node.mutexes.defined()) {
        Expr place = locked_element(node);
        return place.defined() ? run_locked(node, place) : run(node.body);
    }
    bool outer = std::exchange(in_atomic, true);
    run(node.body);
    in_atomic = outer;
}

// Without a mutex: the machine's own read-modify-write, one lane after the other.
bool Emitter::atomic_store(const Store &node) {
    Stmt whole = within_lets(atomic_lets, node);
    const Store &store = *whole.as<Store>();
    Expr v = store.value, at = store.index, wanted = store.predicate;
    if (!uses_symbol(v, node.buffer)) {
        bool outer = std::exchange(in_atomic, false);
        auto lets = std::exchange(atomic_lets, {});
        run(whole);
        atomic_lets = lets;
        in_atomic = outer;
        return true;
    }
    Type t = v.type();
    Value *index = coordinate(at), *mask = predicate(wanted);
    const Expr *added = t.bits() >= 8 && !via_float32(t) ? added_operand(store) : nullptr;
    Value *operand = added ? value(*added) : nullptr;
    for (int lane = 0; lane < t.lanes(); lane++) {
        auto pick = [&](Value *all) { return t.is_scalar() ? all : slice(all, lane, 1, 1); };
        auto update = [&] {
            Value *pointer = element_pointer(base_pointer(node.buffer), t, pick(index));
            atomic_element(store, pointer, operand ? pick(operand) : nullptr, lane);
        };
        if (mask) {
            branch(pick(mask), update, nullptr);
        } else {
            update();
        }
    }
    return true;
}

void Emitter::atomic_element(const Store &node, Value *pointer, Value *added, int lane) {
    if (!added) return compare_exchange_loop(node, pointer, lane);
    auto op = node.value.type().is_float() ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add;
    b.CreateAtomicRMW(op, pointer, added, llvm::MaybeAlign(uint64_t(node.value.type().bytes())),
                      llvm::AtomicOrdering::Monotonic);
}

// Compute from the old element, and write if it is still the old one; else again.
void Emitter::compare_exchange_loop(const Store &node, Value *pointer, int lane) {
    Type t = node.value.type().element_of();
    auto *bits = b.getIntNTy(unsigned(8 * t.bytes()));
    llvm::Align align(uint64_t(t.bytes()));
    auto *first = b.CreateAlignedLoad(bits, pointer, align);
    first->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::BasicBlock *before = b.GetInsertBlock();
    llvm::BasicBlock *again = new_block("exchange"), *done = new_block("exchanged");
    b.CreateBr(again);
    start(again);
    auto *old = b.CreatePHI(bits, 2);
    old->addIncoming(first, before);
    Value *computed;
    {
        FreshMemo memo_of_its_own(*this);
        atomic_buffer = node.buffer;
        atomic_old = from_memory(b.CreateBitOrPointerCast(old, memory_type(t)), t);
        computed = value(node.value);
        atomic_old = nullptr;
    }
    if (node.value.type().is_vector()) computed = slice(computed, lane, 1, 1);
    Value *replacement = b.CreateBitOrPointerCast(to_memory(computed, t), bits);
    auto *result =
        b.CreateAtomicCmpXchg(pointer, old, replacement, align, llvm::AtomicOrdering::Monotonic,
                              llvm::AtomicOrdering::Monotonic);
    old->addIncoming(b.CreateExtractValue(result, 0), b.GetInsertBlock());
    b.CreateCondBr(b.CreateExtractValue(result, 1), done, again);
    start(done);
}

}  // namespace tessera::codegen

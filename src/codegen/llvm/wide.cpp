#include "codegen/llvm/emitter.h"

// Coordinates are numbers of 32 bits whose sums do not overflow, so that it makes no difference in
// how many bits they are added up. In 64 nothing has to be extended for each access, what does not
// change in a loop is added up before it, and constants end up in the addresses. Machines whose
// addresses take two registers add them up in 32 (Architecture::index_bits).
namespace tessera::codegen {

bool Emitter::is_wide(const Expr &index) const {
    return architecture.index_bits() == 64 && index.type() == Int(32) && coordinates.are(index);
}

WideCoordinate Emitter::wide(const Expr &e) {
    const ExprNode *node = e.get();
    const bool shared = node->use_count() > 1;
    if (shared) {
        auto known = memo.wide.find(node);
        if (known != memo.wide.end()) return known->second;
    }
    const uint64_t calls_before = impure_calls;
    const WideCoordinate w = wide_node(e);
    if (shared && impure_calls == calls_before) {
        memo.wide[node] = w;
        memo_log.push_back(e);
    }
    return w;
}

WideCoordinate Emitter::wide_node(const Expr &e) {
    auto sum = [&](const WideCoordinate &x, const WideCoordinate &y) -> WideCoordinate {
        if (!x.part || !y.part) return {x.part ? x.part : y.part, x.offset + y.offset};
        return {b.CreateAdd(x.part, y.part, "", false, true), x.offset + y.offset};
    };
    auto product = [&](const WideCoordinate &x, int64_t factor) -> WideCoordinate {
        Value *part = x.part ? b.CreateMul(x.part, int64(factor), "", false, true) : nullptr;
        return {part, x.offset * factor};
    };
    switch (e.kind()) {
    case NodeKind::IntImm: return {nullptr, e.as<IntImm>()->value};
    case NodeKind::Variable: {
        auto known = f->wide_variables.find(e.as<Variable>()->name);
        if (known != f->wide_variables.end()) return known->second;
        break;
    }
    case NodeKind::Add: return sum(wide(e.as<Add>()->a), wide(e.as<Add>()->b));
    case NodeKind::Sub: {
        const WideCoordinate x = wide(e.as<Sub>()->a), y = wide(e.as<Sub>()->b);
        if (!y.part) return {x.part, x.offset - y.offset};
        Value *from = x.part ? x.part : int64(0);
        return {b.CreateSub(from, y.part, "", false, true), x.offset - y.offset};
    }
    case NodeKind::Mul: {
        const WideCoordinate x = wide(e.as<Mul>()->a), y = wide(e.as<Mul>()->b);
        if (!y.part) return product(x, y.offset);
        if (!x.part) return product(y, x.offset);
        return {b.CreateMul(wide_value(x), wide_value(y), "", false, true), 0};
    }
    default: break;
    }
    return {b.CreateSExt(value_as(true, e), b.getInt64Ty()), 0};
}

Value *Emitter::wide_value(const WideCoordinate &w) {
    if (!w.part) return int64(w.offset);
    return w.offset ? b.CreateAdd(w.part, int64(w.offset), "", false, true) : w.part;
}

// Keeps the wide value of a let for the indices that use it.
void Emitter::bind_wide(Symbol let, const Expr &value) {
    if (coordinates.contains(let) && is_wide(value)) f->wide_variables[let] = wide(value);
}

}  // namespace tessera::codegen

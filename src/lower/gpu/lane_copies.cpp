#include "lower/gpu/lane_copies.h"
#include "ir/allocation.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/kernel_shape.h"

namespace tessera::lower {

using namespace ir;

namespace {

// Looks at all that a row does with a buffer.
class LookAtRow final : public Visitor {
public:
    LookAtRow(Symbol buffer, int64_t elements, const std::unordered_set<const Atomic *> &together,
              const std::unordered_set<Symbol> &privates)
        : Visitor(Visits::PerUse), buffer(buffer), elements(elements), together(together),
          privates(privates) {}
    bool has_copies = true;

private:
    bool stores(const Stmt &s) const {
        bool any = false;
        for_each_node(s, [&](const Store &store) { any |= store.buffer == buffer; });
        return any;
    }
    static bool loads(const Expr &e) {
        bool any = false;
        for_each_node(e, [&](const Load &) { any = true; });
        return any;
    }
    // A number, or a vector of one.
    void look_at(const Expr &index) {
        const auto number = as_const_int(index);
        if (!number || *number < 0 || *number >= elements) has_copies = false;
    }
    bool is_same_for_lanes(const Expr &e) const {
        bool same = is_pure(e);
        for_each_node(e, [&](const Load &load) { same &= !privates.contains(load.buffer); });
        return same;
    }

    void visit(const Load &load) override {
        if (load.buffer == buffer) look_at(load.index);
        Visitor::visit(load);
    }
    void visit(const Store &store) override {
        if (store.buffer == buffer) {
            look_at(store.index);
            if (!store.index.type().is_scalar() || store.predicate.defined()) has_copies = false;
            if (in_atomic ? !in_update : in_lane || !is_same_for_lanes(store.value))
                has_copies = false;
        }
        Visitor::visit(store);
    }
    void visit(const Atomic &atomic) override {
        in_atomic = true;
        in_update = together.contains(&atomic);
        Visitor::visit(atomic);
        in_atomic = in_update = false;
    }
    void visit(const IntrinsicCall &c) override {
        if (c.op == Intrinsic::address_of && uses_symbol(Expr(&c), buffer)) has_copies = false;
        Visitor::visit(c);
    }
    void visit(const MachineOp &) override { has_copies = false; }

    void visit(const For &loop) override {
        if (is_over_threads(loop) && !is_over_lanes(loop) && uses_symbol(Stmt(&loop), buffer))
            has_copies = false;
        const bool was_in_lane = in_lane;
        look_into(Stmt(&loop), loop.min + loop.extent);
        in_lane |= is_over_lanes(loop);
        Visitor::visit(loop);
        in_lane = was_in_lane;
    }
    void visit(const IfThenElse &branch) override {
        look_into(Stmt(&branch), branch.condition);
        Visitor::visit(branch);
    }
    void visit(const Allocate &a) override {
        const bool is_alone = !in_lane && thread_depth(a.body) == 0;
        if (a.memory == MemoryType::Tile || (is_alone && stores(a.body))) has_copies = false;
        Visitor::visit(a);
    }
    void visit(const LetStmt &let) override {
        if (!in_lane && !is_same_for_lanes(let.value)) has_copies = false;
        Visitor::visit(let);
    }
    // All lanes would enter what the first lane did alone.
    void look_into(const Stmt &s, const Expr &depends_on) {
        if (!in_lane && thread_depth(s) == 0 && stores(s) &&
            (loads(depends_on) || !is_pure(depends_on))) {
            has_copies = false;
        }
    }

    const Symbol buffer;
    const int64_t elements;
    const std::unordered_set<const Atomic *> &together;
    const std::unordered_set<Symbol> &privates;
    bool in_lane = false, in_atomic = false, in_update = false;
};

}  // namespace

bool may_be_copies_of_lanes(const Allocate &a, const std::unordered_set<const Atomic *> &together,
                            const std::unordered_set<Symbol> &privates) {
    constexpr int64_t most_elements = 16;
    const bool is_free = a.memory == MemoryType::Auto || a.memory == MemoryType::Register ||
                         a.memory == MemoryType::Stack;
    const auto bytes = constant_bytes(a);
    if (!is_free || !bytes || *bytes == 0 || a.condition.defined() || a.type.is_handle() ||
        !a.type.is_scalar() || *bytes > most_elements * a.type.bytes()) {
        return false;
    }
    LookAtRow look(a.buffer, *bytes / a.type.bytes(), together, privates);
    look(a.body);
    return look.has_copies;
}

}  // namespace tessera::lower

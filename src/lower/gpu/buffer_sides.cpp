#include "lower/gpu/buffer_sides.h"
#include "ir/lets.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"

namespace tessera::lower {

using namespace ir;

void Sides::add(const Sides &o) {
    host_reads |= o.host_reads;
    host_writes |= o.host_writes;
    device_reads |= o.device_reads;
    device_writes |= o.device_writes;
    told |= o.told;
    frees |= o.frees;
}

bool is_told(const Stmt &s) {
    const auto *let = s.as<LetStmt>();
    const auto *c = let ? intrinsic_behind_lets(let->value) : nullptr;
    return c && (c->op == Intrinsic::on_device || c->op == Intrinsic::device_buffer_copy);
}

bool is_kernel(const Stmt &s) {
    const auto *loop = s.as<For>();
    return loop && is_over_blocks(*loop);
}

std::vector<Stmt> statements_within(const Stmt &s) {
    switch (s.kind()) {
    case NodeKind::LetStmt: return {s.as<LetStmt>()->body};
    case NodeKind::For: return {s.as<For>()->body};
    case NodeKind::Allocate: return {s.as<Allocate>()->body};
    case NodeKind::ProducerConsumer: return {s.as<ProducerConsumer>()->body};
    case NodeKind::Atomic: return {s.as<Atomic>()->body};
    case NodeKind::Acquire: return {s.as<Acquire>()->body};
    case NodeKind::Block: return s.as<Block>()->stmts;
    case NodeKind::Fork: return s.as<Fork>()->stmts;
    case NodeKind::IfThenElse: {
        const auto &branch = *s.as<IfThenElse>();
        if (branch.else_case.defined()) return {branch.then_case, branch.else_case};
        return {branch.then_case};
    }
    default: return {};
    }
}

namespace {

void add(BufferSides::PerBuffer &all, const BufferSides::PerBuffer &more) {
    for (const auto &[buffer, sides] : more) all[buffer].add(sides);
}

// Intrinsics that look at a buffer's struct, or give a hint, and use no elements.
bool uses_no_elements(Intrinsic op) {
    switch (op) {
    case Intrinsic::prefetch:
    case Intrinsic::free:
    case Intrinsic::is_device_dirty:
    case Intrinsic::set_buffer_field: return true;
    default: return false;
    }
}

// Finds the loads of an expression, and what is handed to C functions.
class Uses final : public Visitor {
public:
    std::vector<const Load *> loads;
    std::vector<Expr> handed_over, on_device;
    std::vector<const IntrinsicCall *> copies;

private:
    void visit(const Load &load) override {
        loads.push_back(&load);
        Visitor::visit(load);
    }
    void visit(const ExternCall &c) override { visit_args(c, handed_over); }
    void visit_args(const ExternCall &c, std::vector<Expr> &handles) {
        for (const Expr &e : c.args) {
            if (e.type().is_handle())
                handles.push_back(e);
            else
                (*this)(e);
        }
    }
    void visit(const IntrinsicCall &c) override {
        if (uses_no_elements(c.op)) return;
        if (c.op == Intrinsic::on_device) return visit_args(*c.args[0].as<ExternCall>(), on_device);
        if (c.op == Intrinsic::device_buffer_copy) return copies.push_back(&c);
        if (c.op != Intrinsic::address_of) return Visitor::visit(c);
        (*this)(c.args[0].as<Load>()->index);
    }
};

std::vector<Expr> expressions_of(const Stmt &s) {
    std::vector<Expr> all;
    const auto add = [&](const Expr &e) {
        if (e.defined()) all.push_back(e);
    };
    switch (s.kind()) {
    case NodeKind::LetStmt: add(s.as<LetStmt>()->value); break;
    case NodeKind::For:
        add(s.as<For>()->min);
        add(s.as<For>()->extent);
        break;
    case NodeKind::Allocate:
        for (const Expr &e : s.as<Allocate>()->extents) add(e);
        add(s.as<Allocate>()->condition);
        break;
    case NodeKind::IfThenElse: add(s.as<IfThenElse>()->condition); break;
    case NodeKind::AssertStmt:
        add(s.as<AssertStmt>()->condition);
        add(s.as<AssertStmt>()->message);
        break;
    case NodeKind::Evaluate: add(s.as<Evaluate>()->value); break;
    case NodeKind::Acquire: add(s.as<Acquire>()->semaphore); break;
    case NodeKind::Store:
        add(s.as<Store>()->index);
        add(s.as<Store>()->value);
        add(s.as<Store>()->predicate);
        break;
    default: break;
    }
    return all;
}

}  // namespace

BufferSides::BufferSides(const LoweredFunction &pipeline) {
    for (const Argument &a : pipeline.args) {
        if (a.is_scalar()) continue;
        addresses[a.name] = {a.name};
        if (a.is_input()) inputs.insert(a.name);
    }
    find_addresses(pipeline.body);
    for (const auto &[buffer, sides] : of(pipeline.body)) {
        if (sides.on_device()) on_device.insert(buffer);
    }
}

void BufferSides::find_addresses(const Stmt &body) {
    for_each_node(body, [&](const LetStmt &let) {
        if (!let.value.type().is_handle()) return;
        std::unordered_set<Symbol> &held = addresses[let.name];
        for_each_node(let.value, [&](const Load &l) { held.insert(l.buffer); });
        for_each_node(let.value, [&](const BufferProperty &p) { held.insert(p.buffer); });
        for_each_node(let.value, [&](const Variable &v) {
            const auto found = addresses.find(v.name);
            if (found != addresses.end()) held.insert(found->second.begin(), found->second.end());
        });
    });
}

const BufferSides::PerBuffer &BufferSides::of(const Stmt &s) {
    if (const auto found = known.find(s.get()); found != known.end()) return found->second;
    PerBuffer uses = own(s);
    if (!is_kernel(s)) {
        for (const Stmt &inner : statements_within(s)) add(uses, of(inner));
    }
    return known[s.get()] = std::move(uses);
}

Sides BufferSides::of(const Stmt &s, Symbol buffer) {
    const PerBuffer &all = of(s);
    const auto found = all.find(buffer);
    return found == all.end() ? Sides() : found->second;
}

BufferSides::PerBuffer BufferSides::own(const Stmt &s) const {
    if (is_kernel(s)) return of_kernel(*s.as<For>());
    PerBuffer uses;
    for (const Expr &e : expressions_of(s)) add(uses, of_expression(e));
    if (const auto *store = s.as<Store>()) uses[store->buffer].host_writes = true;
    const auto *evaluated = s.as<Evaluate>();
    const auto *c = evaluated ? evaluated->value.as<IntrinsicCall>() : nullptr;
    if (c && c->op == Intrinsic::free) uses[address_taken(c->args[0]).buffer].frees = true;
    return uses;
}

// The host computes what the kernel is launched with.
BufferSides::PerBuffer BufferSides::of_kernel(const For &kernel) const {
    PerBuffer uses;
    std::unordered_set<Symbol> inner;
    for_each_node(Stmt(&kernel), [&](const Allocate &a) { inner.insert(a.buffer); });
    for_each_node(Stmt(&kernel), [&](const Load &l) {
        if (!inner.contains(l.buffer)) uses[l.buffer].device_reads = true;
    });
    for_each_node(Stmt(&kernel), [&](const Store &s) {
        if (!inner.contains(s.buffer)) uses[s.buffer].device_writes = true;
    });
    for_each_node(Stmt(&kernel), [&](const For &loop) {
        if (traits_of(loop.loop_kind).gpu == GPULevel::None) return;
        add(uses, of_expression(loop.min));
        add(uses, of_expression(loop.extent));
    });
    return uses;
}

BufferSides::PerBuffer BufferSides::of_expression(const Expr &e) const {
    PerBuffer uses;
    Uses found;
    found(e);
    for (const Load *load : found.loads) uses[load->buffer].host_reads = true;
    for (const Expr &argument : found.handed_over) {
        hand_over(argument, uses, [&](Symbol buffer, Sides &sides) {
            sides.host_reads = true;
            sides.host_writes |= !inputs.contains(buffer);
        });
    }
    for (const Expr &argument : found.on_device) {
        hand_over(argument, uses, [&](Symbol buffer, Sides &sides) {
            sides.device_reads = sides.told = true;
            sides.device_writes |= !inputs.contains(buffer);
        });
    }
    for (const IntrinsicCall *copy : found.copies) {
        const bool to_host = is_zero(copy->args[2]);
        hand_over(copy->args[0], uses, [](Symbol, Sides &sides) { sides.told = true; });
        hand_over(copy->args[1], uses, [&](Symbol, Sides &sides) {
            (to_host ? sides.host_writes : sides.device_writes) = true;
        });
    }
    return uses;
}

// Calls use(buffer, its sides) for all that an argument of a C function has the address of.
template<typename Use>
void BufferSides::hand_over(const Expr &argument, PerBuffer &uses, Use use) const {
    for_each_node(argument, [&](const Load &l) { use(l.buffer, uses[l.buffer]); });
    for_each_node(argument, [&](const Variable &v) {
        const auto found = addresses.find(v.name);
        if (found == addresses.end()) return;
        for (Symbol buffer : found->second) use(buffer, uses[buffer]);
    });
}

}  // namespace tessera::lower

#include "lower/finish/captures.h"
#include "ir/operators.h"

namespace tessera::lower {

using namespace ir;

Captures::Captures(const Stmt &body) {
    (*this)(body);
    for (Symbol s : bound_variables) scalars.erase(s);
    for (Symbol s : bound_buffers) {
        storage.erase(s);
        scalars.erase(s);
    }
}

std::vector<Argument> Captures::arguments() const {
    std::vector<Argument> args;
    for (const auto &[v, type] : scalars) args.push_back({v, ArgumentKind::Scalar, type, 0, {}});
    for (const auto &[b, type] : storage) args.push_back({b, ArgumentKind::Storage, type, 0, {}});
    return args;
}

void Captures::visit(const Load &load) {
    storage.emplace(load.buffer, load.type.element_of());
    Visitor::visit(load);
}
void Captures::visit(const Store &store) {
    storage.emplace(store.buffer, store.value.type().element_of());
    Visitor::visit(store);
}
void Captures::visit(const Atomic &atomic) {
    if (atomic.mutexes.defined()) use_struct(atomic.mutexes);
    Visitor::visit(atomic);
}
void Captures::visit(const Let &let) {
    bound_variables.insert(let.name);
    Visitor::visit(let);
}
void Captures::visit(const LetStmt &let) {
    bound_variables.insert(let.name);
    Visitor::visit(let);
}
void Captures::visit(const For &loop) {
    bound_variables.insert(loop.name);
    Visitor::visit(loop);
}
void Captures::visit(const Allocate &a) {
    bound_buffers.insert(a.buffer);
    Visitor::visit(a);
}

std::vector<Expr> passed_for(const std::vector<Argument> &args) {
    std::vector<Expr> passed;
    for (const Argument &a : args) {
        passed.push_back(
            a.is_scalar() ? Variable::make(a.type, a.name)
                          : call(Handle(), Intrinsic::address_of, {Load::make(a.type, a.name, 0)}));
    }
    return passed;
}

}  // namespace tessera::lower

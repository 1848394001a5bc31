#include "codegen/statements.h"
#include "base/error.h"
#include "ir/allocation.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::codegen {

using namespace ir;

void refuse_statement(const char *kind, const std::string &what) {
    throw InternalError(
        str("code generation met a ", kind, " of ", what, ", which lowering should have replaced"));
}

void refuse_loop(const For &loop) {
    if (traits_of(loop.loop_kind).gpu != GPULevel::None) {
        throw CompileError(
            loop.origin.kind_written,
            str(traits_of(loop.loop_kind).directive, " of ", loop.origin.var, " of ",
                loop.origin.func,
                ": this back end makes no code for GPUs; use one that LLVM makes the "
                "code for, or the feature interpret of the target"));
    }
    refuse_statement(str(name_of(loop.loop_kind), " loop").c_str(), loop.name.text());
}

bool has_growing_places(const Stmt &body) {
    bool any = false;
    for_each_node(body, [&](const Allocate &a) { any |= place_of(a) == Place::Growing; });
    return any;
}

std::set<Symbol> accessed_buffers(const Stmt &body) {
    std::set<Symbol> used;
    for_each_node(body, [&](const Load &load) { used.insert(load.buffer); });
    for_each_node(body, [&](const Store &store) { used.insert(store.buffer); });
    return used;
}

const Invoke &invoked(const Stmt &s) {
    const auto *invoke = s.as<Invoke>();
    if (!invoke) throw InternalError("what runs on other threads is no function of the module");
    return *invoke;
}

Expr within_lets(const Lets &lets, Expr e) {
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
        if (uses_symbol(e, let->first)) e = Let::make(let->first, let->second, e);
    }
    return e;
}

Stmt within_lets(const Lets &lets, const Store &store) {
    Expr value = within_lets(lets, store.value), index = within_lets(lets, store.index);
    Expr wanted = store.predicate.defined() ? within_lets(lets, store.predicate) : Expr();
    return Store::make(store.buffer, value, index, wanted);
}

bool uses_unbound(const Expr &e, const Lets &lets, const std::function<bool(Symbol)> &is_bound) {
    return std::ranges::any_of(
        lets, [&](const auto &let) { return !is_bound(let.first) && uses_symbol(e, let.first); });
}

Expr requirement_failed(const IntrinsicCall &require) {
    const std::vector<Expr> parts(require.args.begin() + 3, require.args.end());
    const Expr text = parts.empty() ? Expr("") : call(Handle(), Intrinsic::stringify, parts);
    return ExternCall::make(Int(32), "tessera_error_requirement_failed",
                            {call(Handle(), Intrinsic::user_context, {}), require.args[2],
                             Expr(parts.empty() ? "a requirement" : ""), text},
                            false);
}

Expr locked_element(const Atomic &node) {
    const Store *first = nullptr;
    for_each_node(node.body, [&](const Store &store) {
        if (!first) first = &store;
    });
    if (!first) return {};
    if (first->index.type().is_vector()) {
        throw InternalError(str("code generation met a vector store to ", first->buffer,
                                " under a mutex; its lanes should have been taken apart"));
    }
    Lets lets;
    for_each_node(node.body, [&](const LetStmt &let) { lets.emplace_back(let.name, let.value); });
    return within_lets(lets, first->index);
}

}  // namespace tessera::codegen

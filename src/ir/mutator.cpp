#include "ir/mutator.h"
#include "ir/fields.h"

namespace tessera::ir {

template<typename T>
auto Mutator::rebuild(const T &node) {
    using Result = std::conditional_t<std::is_base_of_v<ExprNode, T>, Expr, Stmt>;
    auto copies = T::Fields::apply([&](auto... f) { return std::tuple(node.*f...); });
    auto mutate = [this](const auto &child) { return (*this)(child); };
    bool changed = false;
    std::apply([&](auto &...f) { ((changed |= fields::transform(f, mutate)), ...); }, copies);
    if (!changed) return Result(&node);
    return std::apply([](auto &...f) { return Result(T::make(std::move(f)...)); }, copies);
}

#define VISIT(T)                                                                                   \
    Expr Mutator::visit(const T &node) { return rebuild(node); }
TESSERA_EXPR_NODES(VISIT)
#undef VISIT

#define VISIT(T)                                                                                   \
    Stmt Mutator::visit(const T &node) { return rebuild(node); }
TESSERA_STMT_NODES(VISIT)
#undef VISIT

Expr Mutator::dispatch(const Expr &e) {
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return visit(*e.as<T>());
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: throw InternalError("not an expression");
    }
}

Expr Mutator::operator()(const Expr &e) {
    if (!e.defined()) return e;
    if (visits == Visits::PerUse || e->use_count() < 2) return dispatch(e);
    if (const Done *found = done.find(e.get())) return found->after;
    Expr after = dispatch(e);
    done[e.get()] = {e, after};
    return after;
}

Stmt Mutator::operator()(const Stmt &s) {
    if (!s.defined()) return s;
    switch (s.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return visit(*s.as<T>());
        TESSERA_STMT_NODES(CASE)
#undef CASE
    default: throw InternalError("not a statement");
    }
}

}  // namespace tessera::ir

#include "lower/loops/loop_ends.h"
#include "ir/operators.h"
#include "ir/visitor.h"

namespace tessera::lower {

using namespace ir;

namespace {

bool has_scalar_argument(const Expr &e) {
    bool found = false;
    for_each_node(
        e, [&](const Variable &v) { found |= v.referent && v.referent->is_scalar_argument(); });
    return found;
}

// The same in 64 bits, where it does not overflow.
Expr widened(const Expr &e) {
    if (e.type() != Int(32)) return cast(Int(64), e);
    switch (e.kind()) {
#define WIDEN(T)                                                                                   \
    case NodeKind::T: return T::make(widened(e.as<T>()->a), widened(e.as<T>()->b));
        WIDEN(Add)
        WIDEN(Sub)
        WIDEN(Mul)
        WIDEN(Div)
        WIDEN(Mod)
        WIDEN(Min)
        WIDEN(Max)
#undef WIDEN
    case NodeKind::Select: {
        const auto &s = *e.as<Select>();
        return Select::make(s.condition, widened(s.true_value), widened(s.false_value));
    }
    default: return cast(Int(64), e);
    }
}

}  // namespace

Expr place_in_loop(const Expr &e, int offset, const Expr &first, const Expr &end) {
    Type t = first.type();
    const auto number = as_const_int(e);
    int64_t moved = 0;
    const bool is_beyond = number && (__builtin_add_overflow(*number, int64_t(offset), &moved) ||
                                      !t.can_represent(moved));
    if (e.type() == t && !is_beyond && !has_scalar_argument(e)) return e + make_const(t, offset);
    Expr wide = widened(e) + make_const(Int(64), offset);
    return cast(t, max(min(wide, cast(Int(64), end)), cast(Int(64), first)));
}

}  // namespace tessera::lower

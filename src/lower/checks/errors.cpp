#include "lower/checks/errors.h"
#include "base/places_in_messages.h"
#include "base/str.h"
#include "ir/operators.h"

namespace tessera::lower {

using namespace ir;

Expr error_call(const char *name, std::vector<Expr> args) {
    args.insert(args.begin(), call(Handle(), Intrinsic::user_context, {}));
    return ExternCall::make(Int(32), str("tessera_error_", name), std::move(args), false);
}

Expr error_call_at(const Location &at, const char *name, std::vector<Expr> args) {
    args.insert(args.begin(), Expr(remembered_place(at)));
    return error_call(name, std::move(args));
}

Expr error_explicit_bounds_too_small(const Location &at, Symbol func, Symbol var,
                                     const algebra::Interval &bound,
                                     const algebra::Interval &required) {
    return error_call_at(
        at, "explicit_bounds_too_small",
        {Expr(func.text()), Expr(var.text()), bound.min, bound.max, required.min, required.max});
}

}  // namespace tessera::lower

#include "lower/checks/errors.h"
#include "base/str.h"
#include "ir/operators.h"

namespace tessera::lower {

using namespace ir;

Expr error_call(const char *name, std::vector<Expr> args) {
    args.insert(args.begin(), call(Handle(), Intrinsic::user_context, {}));
    return ExternCall::make(Int(32), str("tessera_error_", name), std::move(args), false);
}

Expr error_explicit_bounds_too_small(Symbol func, Symbol var, const algebra::Interval &bound,
                                     const algebra::Interval &required) {
    return error_call("explicit_bounds_too_small", {Expr(func.text()), Expr(var.text()), bound.min,
                                                    bound.max, required.min, required.max});
}

}  // namespace tessera::lower

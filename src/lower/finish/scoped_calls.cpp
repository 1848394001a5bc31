#include "lower/finish/scoped_calls.h"
#include "ir/operators.h"

namespace tessera::lower {

using namespace ir;

Expr end_of_scope(const LetStmt &let) {
    const auto *begin = let.value.as<ExternCall>();
    if (!begin) return {};
    Expr user = call(Handle(), Intrinsic::user_context, {});
    Expr result = Variable::make(let.value.type(), let.name);
    if (begin->function == "tessera_mutex_array_create") {
        return ExternCall::make(Int(32), "tessera_mutex_array_destroy", {user, result}, false);
    }
    if (begin->function == "tessera_profiler_instance_start") {
        Expr end = ExternCall::make(Int(32), "tessera_profiler_instance_end",
                                    {user, begin->args.back()}, false);
        return call(Int(32), Intrinsic::if_then_else, {result == 0, end, 0});
    }
    return {};
}

}  // namespace tessera::lower

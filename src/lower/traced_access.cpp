#include "lower/traced_access.h"
#include "ir/operators.h"

namespace tessera::lower {

using namespace ir;

namespace {

const IntrinsicCall *as_pair(const Expr &arg) {
    const auto *call = arg.as<IntrinsicCall>();
    return call && call->op == Intrinsic::return_second ? call : nullptr;
}

}  // namespace

bool are_accesses_traced(const lower::Context &context, Symbol func) {
    const program::FunctionContents *f = context.function(func);
    return context.target.has_feature(Target::TraceLoads) ||
           context.target.has_feature(Target::TraceStores) ||
           (f && (f->schedule.trace.loads || f->schedule.trace.stores));
}

Expr stored_at(const Expr &before, const Expr &index) {
    return call(index.type(), Intrinsic::return_second, {coordinate_of(before), index});
}

Expr coordinate_of(const Expr &arg) {
    const IntrinsicCall *pair = as_pair(arg);
    return pair ? pair->args[0] : arg;
}

Expr index_of(const Expr &arg) {
    const IntrinsicCall *pair = as_pair(arg);
    return pair ? pair->args[1] : arg;
}

}  // namespace tessera::lower

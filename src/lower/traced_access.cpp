#include "lower/traced_access.h"
#include "ir/operators.h"
#include "ir/visitor.h"

namespace tessera::lower {

using namespace ir;

namespace {

const IntrinsicCall *as_pair(const Expr &arg) {
    const auto *call = arg.as<IntrinsicCall>();
    return call && call->op == Intrinsic::return_second ? call : nullptr;
}

}  // namespace

Traced traced_of(const program::Trace &wanted, const Target &target) {
    return {wanted.loads || target.has_feature(Target::TraceLoads),
            wanted.stores || target.has_feature(Target::TraceStores),
            wanted.realizations || target.has_feature(Target::TraceRealizations), wanted.tag};
}

std::unordered_map<Symbol, Traced> find_traced(const LoweredFunction &pipeline) {
    std::unordered_map<Symbol, Traced> all;
    const auto add = [&](Symbol name, const Traced &traced) {
        if (traced.any()) all[name] = traced;
    };
    for_each_node(pipeline.body, [&](const Realize &r) { add(r.func, r.storage.traced); });
    for (const Argument &a : pipeline.args) add(a.is_output() ? a.func : a.name, a.traced);
    return all;
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

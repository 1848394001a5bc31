#include "ir/never_nan.h"
#include "ir/nodes.h"
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tessera::ir {

bool NeverNan::operator()(const Expr &e) {
    if (!e.type().is_float()) return true;
    if (auto found = known.find(e.get()); found != known.end()) return found->second.second;
    const bool result = find(e);
    known[e.get()] = {e, result};
    return result;
}

bool NeverNan::of_call(const IntrinsicCall &c) {
    switch (c.op) {
    case Intrinsic::strict_float:
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::abs:
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::round: return (*this)(c.args[0]);
    case Intrinsic::if_then_else: {
        const auto is_number = [&](const Expr &value) { return (*this)(value); };
        return c.args.size() == 3 && std::all_of(c.args.begin() + 1, c.args.end(), is_number);
    }
    default: return false;
    }
}

bool NeverNan::find(const Expr &e) {
    switch (e.kind()) {
    case NodeKind::FloatImm: return !std::isnan(e.as<FloatImm>()->value);
    case NodeKind::Cast: return (*this)(e.as<Cast>()->value);
    case NodeKind::Broadcast: return (*this)(e.as<Broadcast>()->value);
    case NodeKind::Min: return (*this)(e.as<Min>()->a) || (*this)(e.as<Min>()->b);
    case NodeKind::Max: return (*this)(e.as<Max>()->a) || (*this)(e.as<Max>()->b);
    case NodeKind::Select:
        return (*this)(e.as<Select>()->true_value) && (*this)(e.as<Select>()->false_value);
    case NodeKind::Shuffle: {
        const std::vector<Expr> &vectors = e.as<Shuffle>()->vectors;
        return std::all_of(vectors.begin(), vectors.end(),
                           [&](const Expr &vector) { return (*this)(vector); });
    }
    case NodeKind::VectorReduce: {
        const auto *r = e.as<VectorReduce>();
        return (r->op == ReduceOp::Min || r->op == ReduceOp::Max) && (*this)(r->value);
    }
    case NodeKind::Let: {
        // The answers for the body hold for this let alone: the same nodes may stand behind another
        // let of the name, as they do in copies of an unrolled loop.
        const auto *let = e.as<Let>();
        const bool is_number = (*this)(let->value);
        const auto outer = lets.find(let->name);
        const std::optional<bool> hidden =
            outer == lets.end() ? std::nullopt : std::optional(outer->second);
        lets[let->name] = is_number;
        auto outside = std::exchange(known, {});
        const bool result = (*this)(let->body);
        known = std::move(outside);
        if (hidden)
            lets[let->name] = *hidden;
        else
            lets.erase(let->name);
        return result;
    }
    case NodeKind::IntrinsicCall: return of_call(*e.as<IntrinsicCall>());
    case NodeKind::Variable: {
        const auto found = lets.find(e.as<Variable>()->name);
        return found == lets.end() ? leaf(e) : found->second;
    }
    case NodeKind::Load:
    case NodeKind::Call: return leaf(e);
    default: return false;
    }
}

}  // namespace tessera::ir

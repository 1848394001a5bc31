#include "lower/loops/widen.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/loops/lanes.h"

namespace tessera::lower {
namespace {

using namespace ir;

class Widen final : public Mutator {
public:
    Widen(WidenScope &scope, Expr mask)
        : scope(scope), groups(scope.groups), mask(std::move(mask)) {}
    Expr index(const Expr &e) {
        if (e.type().bits() == 32) return (*this)(e);  // nothing is cast to it but what is narrowed
        Widen wide_index(scope, mask);
        wide_index.data = this;
        return wide_index(e);
    }

private:
    bool is_wide(const Expr &e, const Expr &before) const {
        return e.type().lanes() != before.type().lanes();
    }
    Expr wide(const Expr &e, const Expr &before) const { return all_groups(e, before, groups); }
    Type wide_type(Type t) const { return t.with_lanes(t.lanes() * groups); }
    // A condition or mask of one lane per iteration, for values of `lanes` lanes per iteration.
    Expr spread(const Expr &condition, int lanes) const {
        return lanes == condition.type().lanes() / groups
                   ? condition
                   : lanes::repeat_each(condition, groups, lanes);
    }
    // All operands of the iterations, or none of them widened (then false).
    bool widen_all(std::vector<Expr> &args);

    template<typename T>
    Expr binary(const T &node, Expr (*combine)(const Expr &, const Expr &));

    Expr visit(const Variable &v) override {
        auto found = scope.wide.find(v.name);
        return found == scope.wide.end() ? Expr(&v) : found->second;
    }
    Expr visit(const Cast &node) override {
        Expr value = data ? (*data)(node.value) : (*this)(node.value);
        Type element = node.type.element_of();
        if (is_wide(value, node.value)) {
            return data ? lanes::cast_coordinate(element, value)
                        : lanes::cast_lanes(element, value);
        }
        return value.same_as(node.value) ? Expr(&node) : Cast::make(node.type, value);
    }
    Expr visit(const Reinterpret &node) override {
        Expr value = (*this)(node.value);
        Type t = is_wide(value, node.value) ? wide_type(node.type) : node.type;
        return value.same_as(node.value) ? Expr(&node) : Reinterpret::make(t, value);
    }
    Expr visit(const Add &node) override { return binary(node, lanes::add); }
    Expr visit(const Sub &node) override { return binary(node, lanes::sub); }
    Expr visit(const Mul &node) override { return binary(node, lanes::mul); }
#define PLAIN(T)                                                                                   \
    Expr visit(const T &node) override {                                                           \
        return binary(node, +[](const Expr &a, const Expr &b) { return T::make(a, b); });          \
    }
    // clang-format off
    PLAIN(Div) PLAIN(Mod) PLAIN(Min) PLAIN(Max) PLAIN(EQ) PLAIN(NE) PLAIN(LT) PLAIN(LE) PLAIN(GT)
    PLAIN(GE) PLAIN(And) PLAIN(Or)
    // clang-format on
#undef PLAIN
    Expr visit(const Not &node) override {
        Expr a = (*this)(node.a);
        return a.same_as(node.a) ? Expr(&node) : Not::make(a);
    }
    Expr visit(const Select &node) override;
    Expr visit(const Load &node) override;
    Expr visit(const Ramp &node) override;
    Expr visit(const Broadcast &node) override;
    Expr visit(const Let &node) override;
    Expr visit(const Call &node) override {
        throw InternalError(str("vectorizing the call of ", node.callee, ", which has no storage"));
    }
    Expr visit(const IntrinsicCall &node) override;
    Expr visit(const ExternCall &node) override;
    Expr visit(const Shuffle &node) override;
    Expr visit(const VectorReduce &node) override;
    Expr if_then_else(const IntrinsicCall &node);

    WidenScope &scope;
    int groups;
    Expr mask;
    // Points, for an index in 64 bits, to what widens the coordinates that are cast in it.
    Widen *data = nullptr;
};

bool Widen::widen_all(std::vector<Expr> &args) {
    std::vector<Expr> before = args;
    bool any = false;
    for (Expr &a : args) a = (*this)(a);
    for (size_t i = 0; i < args.size(); i++) any |= is_wide(args[i], before[i]);
    if (!any) return false;
    for (size_t i = 0; i < args.size(); i++) args[i] = wide(args[i], before[i]);
    return true;
}

template<typename T>
Expr Widen::binary(const T &node, Expr (*combine)(const Expr &, const Expr &)) {
    Expr a = (*this)(node.a), b = (*this)(node.b);
    if (is_wide(a, node.a) || is_wide(b, node.b)) return combine(wide(a, node.a), wide(b, node.b));
    if (a.same_as(node.a) && b.same_as(node.b)) return Expr(&node);
    return T::make(a, b);
}

Expr Widen::visit(const Select &node) {
    Expr c = (*this)(node.condition), t = (*this)(node.true_value), f = (*this)(node.false_value);
    bool wide_condition = is_wide(c, node.condition);
    bool any = wide_condition || is_wide(t, node.true_value) || is_wide(f, node.false_value);
    if (!any) {
        if (c.same_as(node.condition) && t.same_as(node.true_value) &&
            f.same_as(node.false_value)) {
            return Expr(&node);
        }
        return Select::make(c, t, f);
    }
    t = wide(t, node.true_value);
    f = wide(f, node.false_value);
    if (wide_condition && node.condition.type().is_scalar()) c = spread(c, node.type.lanes());
    if (!wide_condition && node.condition.type().is_vector()) c = wide(c, node.condition);
    return Select::make(c, t, f);
}

Expr Widen::visit(const Load &node) {
    Expr index = this->index(node.index), predicate = (*this)(node.predicate);
    bool separate = scope.per_iteration.count(node.buffer) != 0;
    bool wide_predicate = predicate.defined() && is_wide(predicate, node.predicate);
    if (!is_wide(index, node.index) && !wide_predicate && !mask.defined() && !separate) {
        if (index.same_as(node.index) && predicate.same_as(node.predicate)) return Expr(&node);
        return node.with<&Load::index, &Load::predicate>(index, predicate);
    }
    index = wide(index, node.index);
    Alignment alignment = node.alignment;
    if (separate) {
        index = index_per_iteration(index, groups);
        alignment = {};
    }
    if (predicate.defined()) predicate = wide(predicate, node.predicate);
    if (mask.defined()) {
        Expr m = spread(mask, node.type.lanes());
        predicate = predicate.defined() ? And::make(m, predicate) : m;
    }
    return node.with<&Load::type, &Load::index, &Load::predicate, &Load::alignment>(
        wide_type(node.type), index, predicate, alignment);
}

Expr Widen::visit(const Ramp &node) {
    Expr base = (*this)(node.base), stride = (*this)(node.stride);
    if (!is_wide(base, node.base) && !is_wide(stride, node.stride)) {
        if (base.same_as(node.base) && stride.same_as(node.stride)) return Expr(&node);
        return Ramp::make(base, stride, node.lanes);
    }
    Expr steps = Ramp::make(make_zero(node.base.type()), make_one(node.base.type()), node.lanes);
    Expr all_steps = Broadcast::make(steps, groups);
    Expr each_base = lanes::repeat_each(wide(base, node.base), groups, node.lanes);
    if (!is_wide(stride, node.stride)) {
        Expr walk = Ramp::make(make_zero(node.base.type()), stride, node.lanes);
        return lanes::add(each_base, Broadcast::make(walk, groups));
    }
    Expr each_stride = lanes::repeat_each(wide(stride, node.stride), groups, node.lanes);
    return lanes::add(each_base, lanes::mul(each_stride, all_steps));
}

Expr Widen::visit(const Broadcast &node) {
    Expr value = (*this)(node.value);
    if (is_wide(value, node.value)) return lanes::repeat_each(value, groups, node.lanes);
    return value.same_as(node.value) ? Expr(&node) : Broadcast::make(value, node.lanes);
}

Expr Widen::visit(const Let &node) {
    Expr value = (*this)(node.value);
    if (!is_wide(value, node.value)) return Let::make(node.name, value, (*this)(node.body));
    std::vector<std::pair<Symbol, Expr>> lets;
    scope.wide[node.name] = name_parts(value, node.name, lets);
    Expr body = widen(node.body, scope, mask);
    scope.wide.erase(node.name);
    for (size_t i = lets.size(); i-- > 0;) body = Let::make(lets[i].first, lets[i].second, body);
    return body;
}

// A value that is the condition's only where it holds; nothing is read where it does not.
Expr Widen::if_then_else(const IntrinsicCall &node) {
    Expr condition = (*this)(node.args[0]);
    if (!is_wide(condition, node.args[0])) {
        std::vector<Expr> args = {condition};
        bool any = false;
        for (size_t i = 1; i < node.args.size(); i++) {
            args.push_back((*this)(node.args[i]));
            any |= is_wide(args[i], node.args[i]);
        }
        for (size_t i = 1; any && i < args.size(); i++) args[i] = wide(args[i], node.args[i]);
        return node.with<&IntrinsicCall::type, &IntrinsicCall::args>(args[1].type(), args);
    }
    auto masked = [&](const Expr &m, const Expr &e) {
        return wide(widen(e, scope, mask.defined() ? And::make(mask, m) : m), e);
    };
    Expr value = masked(condition, node.args[1]);
    if (node.args.size() < 3) return value;
    Expr otherwise = masked(Not::make(condition), node.args[2]);
    return Select::make(spread(condition, node.type.lanes()), value, otherwise);
}

Expr Widen::visit(const IntrinsicCall &node) {
    if (node.op == Intrinsic::if_then_else) return if_then_else(node);
    if (can_widen_trace(node, scope)) return widen_trace(node, scope, mask);
    std::vector<Expr> args = node.args;
    bool hint =
        node.op == Intrinsic::promise_clamped || node.op == Intrinsic::unsafe_promise_clamped;
    bool any = widen_all(args);
    // An index that is known to be dense is worth more than what is known of its bounds.
    if (any && hint && args[0].as<Ramp>()) return args[0];
    if (!any) return node.with<&IntrinsicCall::args>(std::move(args));
    return node.with<&IntrinsicCall::type, &IntrinsicCall::args>(wide_type(node.type),
                                                                 std::move(args));
}

Expr Widen::visit(const ExternCall &node) {
    std::vector<Expr> args = node.args;
    Type t = widen_all(args) ? wide_type(node.type) : node.type;
    return node.with<&ExternCall::type, &ExternCall::args>(t, std::move(args));
}

Expr Widen::visit(const Shuffle &node) {
    std::vector<Expr> vectors = node.vectors;
    if (!widen_all(vectors)) return Shuffle::make(std::move(vectors), node.indices);
    // The place of a lane of the scalar version's concatenation now, and that of the next
    // iteration's.
    std::vector<std::pair<int, int>> place;
    int start = 0;
    for (const Expr &v : node.vectors) {
        int lanes = v.type().lanes();
        for (int i = 0; i < lanes; i++) place.emplace_back(start + i, lanes);
        start += lanes * groups;
    }
    std::vector<int> indices;
    for (int g = 0; g < groups; g++) {
        for (int i : node.indices) indices.push_back(place[i].first + g * place[i].second);
    }
    return Shuffle::make(std::move(vectors), std::move(indices));
}

Expr Widen::visit(const VectorReduce &node) {
    Expr value = (*this)(node.value);
    if (value.same_as(node.value)) return Expr(&node);
    int lanes = is_wide(value, node.value) ? node.lanes * groups : node.lanes;
    return VectorReduce::make(node.op, value, lanes);
}

}  // namespace

Expr widen(const Expr &e, WidenScope &scope, const Expr &mask) { return Widen(scope, mask)(e); }

Expr widen_index(const Expr &e, WidenScope &scope, const Expr &mask) {
    return Widen(scope, mask).index(e);
}

Expr all_groups(const Expr &e, const Expr &before, int groups) {
    return e.type().lanes() == before.type().lanes() ? broadcast(e, groups) : e;
}

Expr index_per_iteration(const Expr &index, int groups) {
    Type t = index.type().element_of();
    int lanes = index.type().lanes() / groups;
    Expr iteration =
        Ramp::make(broadcast(make_zero(t), lanes), broadcast(make_one(t), lanes), groups);
    Expr count = broadcast(make_const(t, groups), lanes);
    return lanes::add(lanes::mul(index, Broadcast::make(count, groups)), iteration);
}

namespace {

// Looks for what cannot be done for several iterations at once.
class Obstacles final : public Visitor {
public:
    explicit Obstacles(const WidenScope &scope) : scope(scope) {}
    bool found = false;

private:
    void visit(const ExternCall &node) override {
        found |= !node.pure || node.type.is_handle();
        Visitor::visit(node);
    }
    void visit(const IntrinsicCall &node) override {
        if (may_be_told(node)) return;
        const IntrinsicCall *told = nullptr;
        if (node.op == Intrinsic::return_second) {
            const auto *same = node.args[0].as<Broadcast>();
            told = (same ? same->value : node.args[0]).as<IntrinsicCall>();
        }
        if (!info_of(node.op).pure && !(told && may_be_told(*told))) found = true;
        if (node.type.is_handle() && depends(node)) found = true;
        bool outer = in_branch;
        in_branch |= node.op == Intrinsic::if_then_else;
        Visitor::visit(node);
        in_branch = outer;
    }
    bool may_be_told(const IntrinsicCall &node) const {
        return scope.traces && !in_branch && can_widen_trace(node, scope);
    }
    bool depends(const IntrinsicCall &node) const {
        bool any = false;
        for (const Expr &a : node.args) {
            for_each_node(a, [&](const Variable &v) { any |= scope.wide.count(v.name) != 0; });
            for_each_node(a,
                          [&](const Load &l) { any |= scope.per_iteration.count(l.buffer) != 0; });
        }
        return any;
    }
    const WidenScope &scope;
    bool in_branch = false;  // is evaluated for some iterations only
};

}  // namespace

bool can_widen(const Expr &e, const WidenScope &scope) {
    if (!e.defined()) return true;
    Obstacles obstacles(scope);
    obstacles(e);
    return !obstacles.found;
}

namespace {

// The fields of the struct in which an event is passed (tessera_trace_event_t).
enum EventPart { EventValue = 1, EventCoordinates = 2, EventType = 4, EventDimensions = 8 };

// The parts of a struct; null if it is none.
const std::vector<Expr> *members(const Expr &e) {
    const auto *c = e.as<IntrinsicCall>();
    return c && c->op == Intrinsic::make_struct ? &c->args : nullptr;
}

const std::vector<Expr> *event_of(const IntrinsicCall &call) {
    return call.op == Intrinsic::trace ? members(call.args[0]) : nullptr;
}

}  // namespace

bool can_widen_trace(const IntrinsicCall &call, const WidenScope &scope) {
    const std::vector<Expr> *event = event_of(call);
    if (!event) return false;
    const std::vector<Expr> *values = members((*event)[EventValue]);
    const std::vector<Expr> *coordinates = members((*event)[EventCoordinates]);
    if (!values || !coordinates) return false;
    auto may = [&](const Expr &e) { return can_widen(e, scope); };
    return std::all_of(values->begin(), values->end(), may) &&
           std::all_of(coordinates->begin(), coordinates->end(), may);
}

Expr widen_trace(const IntrinsicCall &call, WidenScope &scope, const Expr &mask) {
    std::vector<Expr> event = *event_of(call);
    const auto type = uint32_t(event[EventType].as<UIntImm>()->value);
    const size_t lanes_so_far = type >> 16, groups = size_t(scope.groups);
    bool any = false;
    // Collects the lanes of each coordinate (or value), those of one iteration after those of
    // another.
    auto all_iterations = [&](EventPart part) {
        std::vector<Expr> wide, result;
        for (const Expr &e : *members(event[part])) {
            wide.push_back(widen(e, scope, mask));
            any |= wide.back().type().lanes() != e.type().lanes();
            wide.back() = all_groups(wide.back(), e, scope.groups);
        }
        for (size_t first = 0; first < wide.size(); first += lanes_so_far) {
            for (size_t i = 0; i < groups * lanes_so_far; i++) {
                const Expr &lane = wide[first + i % lanes_so_far];
                result.push_back(lanes::group_of(lane, scope.groups, int(i / lanes_so_far)));
            }
        }
        return ir::call(Handle(), Intrinsic::make_struct, std::move(result));
    };
    Expr values = all_iterations(EventValue), coordinates = all_iterations(EventCoordinates);
    if (!any) return Expr(&call);
    event[EventValue] = values;
    event[EventCoordinates] = coordinates;
    event[EventType] =
        UIntImm::make(UInt(32), (type & 0xffff) | uint32_t(lanes_so_far * groups) << 16);
    event[EventDimensions] = int(members(coordinates)->size());
    return call.with<&IntrinsicCall::args>(
        {ir::call(Handle(), Intrinsic::make_struct, std::move(event))});
}

Expr name_parts(const Expr &wide, Symbol name, std::vector<std::pair<Symbol, Expr>> &lets) {
    if (is_const(wide) || wide.as<Variable>()) return wide;
    if (const auto *splat = wide.as<Broadcast>()) {
        return Broadcast::make(name_parts(splat->value, name, lets), splat->lanes);
    }
    if (const auto *ramp = wide.as<Ramp>()) {
        Expr base = name_parts(ramp->base, name, lets);
        return Ramp::make(base, name_parts(ramp->stride, name, lets), ramp->lanes);
    }
    Symbol part = Symbol::fresh(name.text());
    lets.emplace_back(part, wide);
    return Variable::make(wide.type(), part);
}

}  // namespace tessera::lower

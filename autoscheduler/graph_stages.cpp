#include "autoscheduler/graph.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>
#include <numeric>

// The part of Graph that makes stages from definitions: what their expressions do and read.

namespace tessera::autoscheduler {

using namespace ir;
using program::Definition;
using program::FunctionRef;
using program::Parameter;

double Operations::total() const {
    double sum = 0;
    for (double c : count) sum += c;
    return sum;
}

void Operations::add(const Operations &other, double times) {
    for (size_t i = 0; i < operation_classes; i++) {
        count[i] += times * other.count[i];
        bytes[i] += times * other.bytes[i];
    }
    fused_count += times * other.fused_count;
    fused_bytes += times * other.fused_bytes;
}

double Choice::part(int64_t extent) const {
    const double all = double(std::max<int64_t>(1, period > 0 ? period : extent));
    const double some = std::min(1.0, double(count) / all);
    return is_rest ? 1 - some : some;
}

namespace {

OperationClass class_of(Type t, OperationClass of_float, OperationClass of_int) {
    return t.is_float() ? of_float : of_int;
}

bool is_power_of_two(const Expr &e) {
    const auto number = as_const_int(e);
    return number && *number > 0 && (*number & (*number - 1)) == 0;
}

OperationClass class_of(const IntrinsicCall &c) {
    switch (c.op) {
    case Intrinsic::sqrt:
    case Intrinsic::div_round_to_zero:
    case Intrinsic::mod_round_to_zero: return OperationClass::FloatDiv;
    case Intrinsic::sin:
    case Intrinsic::cos:
    case Intrinsic::tan:
    case Intrinsic::asin:
    case Intrinsic::acos:
    case Intrinsic::atan:
    case Intrinsic::atan2:
    case Intrinsic::sinh:
    case Intrinsic::cosh:
    case Intrinsic::tanh:
    case Intrinsic::asinh:
    case Intrinsic::acosh:
    case Intrinsic::atanh:
    case Intrinsic::exp:
    case Intrinsic::log:
    case Intrinsic::fast_exp:
    case Intrinsic::fast_log:
    case Intrinsic::pow: return OperationClass::FloatMath;
    case Intrinsic::if_then_else: return OperationClass::Choice;
    case Intrinsic::bitwise_and:
    case Intrinsic::bitwise_or:
    case Intrinsic::bitwise_xor:
    case Intrinsic::bitwise_not:
    case Intrinsic::shift_left:
    case Intrinsic::shift_right: return OperationClass::Bits;
    default: return class_of(c.type, OperationClass::FloatAdd, OperationClass::IntAdd);
    }
}

bool costs_nothing(Intrinsic op) {
    switch (op) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped:
    case Intrinsic::strict_float:
    case Intrinsic::return_second: return true;
    default: return false;
    }
}

}  // namespace

// Counts what a stage's expressions do, each shared one once, and finds what they read.
class Graph::StageBuilder final : public Visitor {
public:
    StageBuilder(Graph &graph, StageNode &stage) : graph(graph), stage(stage) {}

    void add_reads_of(const program::ExternDefinition &definition) {
        for (const program::ExternFuncArgument &a : definition.args) {
            if (a.scalar.defined()) (*this)(a.scalar);
        }
        for (const program::ExternFuncArgument &a : definition.args) {
            if (!a.func && !a.buffer) continue;
            stage.accesses.push_back(a.func ? read_by_extern(a.func) : read_by_extern(*a.buffer));
            stage.accesses.back().is_by_extern = true;
        }
    }

private:
    // Builds what a branch adds to the stage.
    StageBuilder(StageBuilder &around, Choices choices)
        : graph(around.graph), stage(around.stage), choices(std::move(choices)),
          borders(around.borders), known(around.known) {}
    // Builds what is computed at the borders of these variables.
    StageBuilder(StageBuilder &around, uint64_t borders)
        : graph(around.graph), stage(around.stage), choices(around.choices), borders(borders),
          known(around.known) {}

    void add(const Operations &some) {
        stage.operations.add(some);
        if (choices.empty() && borders == 0) return;
        const auto same = std::ranges::find_if(stage.chosen, [&](const ChosenOperations &c) {
            return c.choices == choices && c.borders == borders;
        });
        if (same != stage.chosen.end()) {
            same->operations.add(some);
        } else {
            stage.chosen.push_back({choices, borders, some});
        }
    }
    void count(OperationClass c, Type t) {
        Operations one;
        one.count[size_t(c)] = 1;
        one.bytes[size_t(c)] = t.bytes();
        add(one);
    }
    void count_sum(const Expr &a, const Expr &b, Type t) {
        count(class_of(t, OperationClass::FloatAdd, OperationClass::IntAdd), t);
        if (!t.is_float() || !(a.as<Mul>() || b.as<Mul>())) return;
        Operations fused;
        fused.fused_count = 1;
        fused.fused_bytes = t.bytes();
        add(fused);
    }
    void visit(const Add &e) override {
        count_sum(e.a, e.b, e.type);
        Visitor::visit(e);
    }
    void visit(const Sub &e) override {
        count_sum(e.a, e.b, e.type);
        Visitor::visit(e);
    }
    void visit(const Mul &e) override {
        count(class_of(e.type, OperationClass::FloatMul, OperationClass::IntMul), e.type);
        Visitor::visit(e);
    }
    void visit(const Div &e) override {
        const bool is_shift = e.type.is_int_or_uint() && is_power_of_two(e.b);
        const bool is_product = e.type.is_int_or_uint() && as_const_int(e.b);
        repeats_after(e.a, e.b);
        count(is_shift     ? OperationClass::Bits
              : is_product ? OperationClass::IntMul
                           : class_of(e.type, OperationClass::FloatDiv, OperationClass::IntDiv),
              e.type);
        Visitor::visit(e);
    }
    void visit(const Mod &e) override {
        const bool is_mask = e.type.is_int_or_uint() && is_power_of_two(e.b);
        repeats_after(e.a, e.b);
        count(is_mask ? OperationClass::Bits
                      : class_of(e.type, OperationClass::FloatMath, OperationClass::IntDiv),
              e.type);
        Visitor::visit(e);
    }
#define CHOICE(T)                                                                                  \
    void visit(const T &e) override {                                                              \
        count(OperationClass::Choice, e.a.type());                                                 \
        Visitor::visit(e);                                                                         \
    }
    CHOICE(Min)
    CHOICE(Max)
    CHOICE(EQ)
    CHOICE(NE)
    CHOICE(LT)
    CHOICE(LE)
    CHOICE(GT)
    CHOICE(GE)
#undef CHOICE
    void visit(const Select &e) override {
        const uint64_t there = borders == 0 ? borders_of(e) : 0;
        if (there != 0) return visit_at(there, e);
        count(OperationClass::Choice, e.type);
        constexpr size_t deepest = 6;
        const std::optional<Choice> holds = choice_of(e.condition);
        if (!holds || depth(*holds) > deepest) return Visitor::visit(e);
        (*this)(e.condition);
        // Operands that both branches have are walked in each.
        StageBuilder(*this, with(*holds))(e.true_value);
        Choice fails = *holds;
        fails.is_rest = !fails.is_rest;
        StageBuilder(*this, with(fails))(e.false_value);
    }
    // The likely value is all that is left between the borders, where loops are split.
    void visit_at(uint64_t there, const Select &e) {
        StageBuilder at_borders(*this, there);
        at_borders.count(OperationClass::Choice, e.type);
        at_borders(e.condition);
        (is_likely(e.true_value) ? *this : at_borders)(e.true_value);
        (is_likely(e.false_value) ? *this : at_borders)(e.false_value);
    }
    static bool is_likely(const Expr &e) {
        const auto *call = e.as<IntrinsicCall>();
        return call &&
               (call->op == Intrinsic::likely || call->op == Intrinsic::likely_if_innermost);
    }
    // The pure variables by which it is decided whether something else than what is likely is
    // wanted; 0: none, or data as well.
    uint64_t borders_of(const Select &e) const {
        if (!is_likely(e.true_value) && !is_likely(e.false_value)) return 0;
        uint64_t variables = 0;
        bool reads_data = false;
        for_each_node(e.condition, [&](const Call &) { reads_data = true; });
        for_each_node(e.condition, [&](const Variable &v) {
            const int number = stage.variables.find(v.name);
            if (number >= 0 && size_t(number) < std::min<size_t>(64, stage.pure))
                variables |= uint64_t(1) << number;
        });
        return reads_data ? 0 : variables;
    }
    // Returns how many of the conditions around are about other things. A chain of choices by one
    // variable is one.
    size_t depth(const Choice &c) const {
        return size_t(std::ranges::count_if(
            choices, [&](const Choice &other) { return !other.is_about_the_same(c); }));
    }
    // x == 1, (x + 1) % 2 == 0 and the like.
    std::optional<Choice> choice_of(const Expr &condition) const {
        const auto *is = condition.as<EQ>();
        const auto *is_not = condition.as<NE>();
        if (!is && !is_not) return std::nullopt;
        Expr number = is ? is->a : is_not->a;
        if (!as_const_int(is ? is->b : is_not->b)) return std::nullopt;
        Choice choice;
        if (const auto *rest = number.as<Mod>()) {
            choice.period = as_const_int(rest->b).value_or(0);
            number = rest->a;
            if (choice.period < 2) return std::nullopt;
        }
        const auto *v = without_offset(number).as<Variable>();
        const int variable = v ? stage.variables.find(v->name) : -1;
        if (variable < 0 || size_t(variable) >= stage.pure) return std::nullopt;
        choice.variable = size_t(variable);
        choice.is_rest = is_not != nullptr;
        return choice;
    }
    // Those around, and this one. A choice that fails after others have failed holds for none of
    // these.
    Choices with(const Choice &c) const {
        Choices all = choices;
        const auto same =
            std::ranges::find_if(all, [&](const Choice &o) { return o.is_about_the_same(c); });
        if (same == all.end()) {
            all.push_back(c);
        } else if (c.is_rest && same->is_rest) {
            same->count += c.count;
        } else if (!c.is_rest) {
            *same = c;
        }
        return all;
    }
    void visit(const Cast &e) override {
        const Type wider = e.type.bits() > e.value.type().bits() ? e.type : e.value.type();
        count(OperationClass::Cast, wider);
        Visitor::visit(e);
    }
    void visit(const IntrinsicCall &e) override {
        if (!costs_nothing(e.op)) count(class_of(e), e.type);
        Visitor::visit(e);
    }
    void visit(const ExternCall &e) override {
        count(OperationClass::Other, e.type);
        Visitor::visit(e);
    }
    void visit(const Call &call) override {
        add_access(call);
        // Operands of indices are computed beside the loads, unless they are data.
        for (const Expr &arg : call.args) {
            reads_in(arg);
            for_each_node(arg, [&](const Div &d) { repeats_after(d.a, d.b); });
            for_each_node(arg, [&](const Mod &m) { repeats_after(m.a, m.b); });
        }
    }
    static Expr without_offset(Expr a) {
        for (const Add *sum = a.as<Add>(); sum && as_const_int(sum->b); sum = a.as<Add>())
            a = sum->a;
        for (const Sub *sum = a.as<Sub>(); sum && as_const_int(sum->b); sum = a.as<Sub>())
            a = sum->a;
        return a;
    }
    // A coordinate, but for what is added to it, is divided by a small number.
    void repeats_after(Expr a, const Expr &b) {
        constexpr int64_t most = 8;
        const std::optional<int64_t> by = as_const_int(b);
        if (!by || *by < 2 || *by > most) return;
        const auto *v = without_offset(std::move(a)).as<Variable>();
        if (!v) return;
        FunctionNode &f = graph.functions[size_t(stage.function)];
        const std::optional<size_t> dimension = dimension_of(*f.function, v->name);
        if (!dimension) return;
        int64_t &period = f.periods[*dimension];
        period = std::lcm(period, *by);
    }
    void reads_in(const Expr &index) {
        bool reads = false;
        for_each_node(index, [&](const Call &) { reads = true; });
        if (reads) (*this)(index);
    }

    void add_access(const Call &call) {
        for (size_t i = 0; i < known->size(); i++) {
            if (!equal(Expr((*known)[i]), Expr(&call))) continue;
            Choices &of_access = stage.accesses[i].choices;  // it is loaded once
            of_access = either(of_access, choices);
            return;
        }
        Access a;
        a.choices = choices;
        a.bytes = call.type.bytes();
        if (call.call_kind == CallKind::Func) {
            a.source.function = graph.find(call.callee);
        } else {
            a.source.image = image(call.callee, call.type, int(call.args.size()),
                                   dynamic_cast<const Parameter *>(call.referent.get()));
        }
        for (const Expr &arg : call.args) {
            a.index.emplace_back(arg, stage.variables, graph.estimates,
                                 [this](const Call &c) { return graph.values_of(c); });
        }
        known->push_back(&call);
        stage.accesses.push_back(std::move(a));
    }
    // For which points one of two is wanted, or more.
    static Choices either(const Choices &a, const Choices &b) {
        Choices all;
        for (const Choice &x : a) {
            for (const Choice &y : b) {
                if (x.is_about_the_same(y)) add_either(x, y, all);
            }
        }
        return all;
    }
    static void add_either(Choice x, const Choice &y, Choices &all) {
        if (x.is_rest && y.is_rest) {
            x.count = std::min(x.count, y.count);
        } else if (!x.is_rest && !y.is_rest) {
            x.count += y.count;
        } else {
            x.count = x.is_rest ? x.count - y.count : y.count - x.count;
            x.is_rest = true;
        }
        const bool is_all = x.is_rest ? x.count <= 0 : x.period > 0 && x.count >= x.period;
        if (!is_all) all.push_back(x);
    }
    int image(Symbol name, Type type, int dimensions, const Parameter *p) {
        auto [place, is_new] = graph.image_numbers.try_emplace(name, int(graph.images.size()));
        if (!is_new) return place->second;
        ImageNode node;
        node.name = name.text();
        node.symbol = name;
        node.bytes = type.bytes();
        node.is_constant = p && p->embedded;
        for (int d = 0; d < dimensions; d++) {
            const auto min = p ? graph.estimates.min(*p, d) : std::nullopt;
            const auto extent = p ? graph.estimates.extent(*p, d) : std::nullopt;
            // If nobody has estimated an extent, it is what is read: require_regions() finds that.
            node.box.push_back(extent ? Span{min.value_or(0), min.value_or(0) + *extent - 1}
                                      : Span{0, -1});
            node.strides.push_back(p ? stride_of(*p, size_t(d)) : std::nullopt);
        }
        graph.images.push_back(std::move(node));
        return place->second;
    }

    static std::optional<int64_t> stride_of(const Parameter &p, size_t d) {
        if (p.embedded && p.buffer) return p.buffer->dim[d].stride;
        if (d >= p.constraints.size() || !p.constraints[d].stride.defined()) return std::nullopt;
        return ir::as_const_int(p.constraints[d].stride);
    }

    Access read_by_extern(const FunctionRef &f) {
        Access a;
        a.source.function = graph.find(f->name);
        FunctionNode &node = graph.functions[size_t(a.source.function)];
        node.is_read_by_extern = true;
        a.bytes = node.bytes;
        for (size_t d = 0; d < f->args.size(); d++)
            a.index.push_back(index_of_extern(d, graph.estimate_of(node, d)));
        return a;
    }
    Access read_by_extern(const Parameter &p) {
        Access a;
        a.source.image = image(p.name, p.type, p.dimensions, &p);
        a.bytes = p.type.bytes();
        const Box &box = graph.images[size_t(a.source.image)].box;
        for (size_t d = 0; d < size_t(p.dimensions); d++) {
            a.index.push_back(
                index_of_extern(d, box[d].is_empty() ? std::nullopt : std::optional(box[d])));
        }
        return a;
    }
    // Only a call tells which region a C function reads. If nobody has estimated it, a dimension is
    // taken to go along with that of the stage.
    IndexProgram index_of_extern(size_t dimension, const std::optional<Span> &estimate) const {
        if (estimate || dimension >= stage.pure)
            return {estimate.value_or(Span{0, 0}), stage.variables.size()};
        return {Variable::make(Int(32), stage.variables.name(dimension)), stage.variables,
                graph.estimates};
    }

    Graph &graph;
    StageNode &stage;
    const Choices choices;
    const uint64_t borders = 0;  // ChosenOperations::borders
    // The calls of the stage's accesses.
    std::shared_ptr<std::vector<const Call *>> known =
        std::make_shared<std::vector<const Call *>>();
};

void Graph::add_stage(int function, int number) {
    const FunctionRef &f = functions[size_t(function)].function;
    const Definition &definition = *f->stages[size_t(number)];
    StageNode stage;
    stage.function = function;
    stage.number = number;
    stage.definition = &definition;
    for (size_t d = 0; d < f->args.size(); d++) {
        const Symbol arg = f->args[d];
        // A pure variable that an update does not write by is none of its loops.
        const bool is_loop =
            number == 0 || std::ranges::any_of(definition.args, [&](const Expr &e) {
                const auto *v = e.as<Variable>();
                return v && v->name == arg;
            });
        if (!is_loop) continue;
        stage.variables.add(arg);
        stage.dimensions.push_back(d);
    }
    stage.pure = stage.variables.size();
    for (const program::ReductionVariable &r : definition.reduction) {
        stage.variables.add(r.var);
        const auto min = estimates.number(r.min), extent = estimates.number(r.extent);
        stage.domain.push_back({min.value_or(0), min.value_or(0) + extent.value_or(1) - 1});
    }
    StageBuilder builder(*this, stage);
    for (const Expr &arg : definition.args) {
        stage.writes.emplace_back(arg, stage.variables, estimates,
                                  [this](const Call &c) { return values_of(c); });
        if (!arg.as<Variable>()) builder(arg);
    }
    for (const Expr &value : definition.values) builder(value);
    stage.stores_nothing = std::ranges::all_of(definition.values, [](const Expr &value) {
        const auto *call = value.as<IntrinsicCall>();
        return call && call->op == Intrinsic::undef;
    });
    if (definition.predicate.defined()) builder(definition.predicate);
    if (f->has_extern_definition()) builder.add_reads_of(*f->extern_definition);
    const int id = int(stages.size());
    for (const Access &a : stage.accesses) {
        if (a.source.function == function) continue;
        std::vector<int> &consumers = a.source.image >= 0
                                          ? images[size_t(a.source.image)].consumers
                                          : functions[size_t(a.source.function)].consumers;
        if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
    }
    functions[size_t(function)].stages.push_back(id);
    stages.push_back(std::move(stage));
}

}  // namespace tessera::autoscheduler

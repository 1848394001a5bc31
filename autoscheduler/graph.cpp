#include "autoscheduler/graph.h"
#include "autoscheduler/by_hand.h"
#include "autoscheduler/copies.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include <algorithm>
#include <set>

namespace tessera::autoscheduler {

using namespace ir;
using program::FunctionRef;
using program::Parameter;

double points_in(const Box &box) {
    double points = 1;
    for (const Span &s : box) points *= double(s.extent());
    return points;
}

double FunctionNode::points() const { return points_in(required); }

std::optional<size_t> dimension_of(const program::FunctionContents &f, Symbol argument) {
    const auto at = std::ranges::find(f.args, argument);
    if (at == f.args.end()) return std::nullopt;
    return size_t(at - f.args.begin());
}

int Graph::find(Symbol name) const {
    auto found = numbers.find(name);
    return found == numbers.end() ? -1 : found->second;
}

namespace {

program::Program program_of(const program::ScheduledProgram &scheduled) {
    program::Program p;
    p.outputs = scheduled.outputs();
    return p;
}

}  // namespace

Graph::Graph(const program::Algorithm &algorithm, const program::Schedule &by_hand,
             const std::vector<program::Step> &structure)
    : by_hand(by_hand), structure(structure), scheduled(program::apply(algorithm, by_hand)) {
    ByHand by_user = complete_by_hand(scheduled);
    places = std::move(by_user.places);
    for (const program::Step &step : places) scheduled.perform(step);
    for (const program::Step &step : structure) scheduled.perform(step);
    copy = program::copy_reachable(program_of(scheduled));
    for (const FunctionRef &f : copy.environment.order) {
        add_function(f);
        functions.back().is_stored = by_user.stored.contains(f->name);
        is_fixed.push_back(by_user.fixed.contains(f->name));
    }
    for (const FunctionRef &f : copy.program.outputs) {
        functions[size_t(numbers.at(f->name))].is_output = true;
    }
    fix_images();
    require_regions();
    find_constant_regions();
    find_room();
    for (const FunctionNode &f : functions)
        has_periods |= std::ranges::any_of(f.periods, [](int64_t period) { return period > 1; });
}

// Functions that are scheduled by hand read them in place.
void Graph::fix_images() {
    for (size_t n = 0; n < functions.size(); n++) {
        const FunctionNode &f = functions[n];
        const bool may_be_inlined = !f.is_output && !f.is_stored && !f.consumers.empty();
        if (!may_be_inlined || image_behind(*this, int(n)) < 0) continue;
        const auto is_fixed_reader = [&](int c) {
            const auto reader = size_t(stages[size_t(c)].function);
            return is_fixed[reader] && !functions[reader].is_extern;
        };
        if (std::ranges::all_of(f.consumers, is_fixed_reader)) is_fixed[n] = true;
    }
}

void Graph::add_function(const FunctionRef &f) {
    const int number = int(functions.size());
    numbers[f->name] = number;
    FunctionNode node;
    node.function = f;
    node.name = f->name.text();
    node.is_extern = f->has_extern_definition();
    node.periods.assign(f->args.size(), 1);
    for (Type t : f->types) {
        node.bytes += t.bytes();
        node.widest = std::max(node.widest, t.bytes());
    }
    functions.push_back(std::move(node));
    for (size_t s = 0; s < f->stages.size(); s++) add_stage(number, int(s));
    if (f->stages.size() != 1 || f->stages[0]->values.empty()) return;
    // The range of the values holds for any coordinates.
    constexpr int64_t anything = int64_t(1) << 39;
    const StageNode &pure = stages.back();
    const std::vector<Span> anywhere(pure.variables.size(), Span{-anything, anything});
    const IndexProgram value(pure.definition->values[0], pure.variables, estimates,
                             [this](const Call &c) { return values_of(c); });
    const Span values = value.run(anywhere);
    if (values.min > -anything && values.max < anything) functions[size_t(number)].values = values;
}

std::optional<Span> Graph::values_of(const Call &call) const {
    if (call.call_kind != CallKind::Func || call.value_index != 0) return std::nullopt;
    const int f = find(call.callee);
    return f >= 0 ? functions[size_t(f)].values : std::nullopt;
}

namespace {

// The directives of this kind that the schedule has for the function, the last one first.
template<typename Directive>
std::vector<program::Written<Directive>> directives_of(const FunctionNode &f,
                                                       const program::Schedule &schedule) {
    std::vector<program::Written<Directive>> all;
    for (const program::Step &step : schedule.steps) {
        const auto *of_func = std::get_if<program::FuncStep>(&step.what);
        if (!of_func || step.function != f.function->name) continue;
        const auto *directive = std::get_if<Directive>(&of_func->written.directive);
        if (directive) all.insert(all.begin(), {*directive, of_func->written.at});
    }
    return all;
}

// The bounds that the user expects of a dimension of an output.
class EstimatedSpan {
public:
    EstimatedSpan(const FunctionNode &f, size_t dimension, const Estimates &estimates)
        : f(f), dimension(dimension), estimates(estimates), where(f.function->written) {}

    // The first number is taken.
    void take(const Expr &some_min, const Expr &some_extent, const Location &at) {
        if (!min) min = estimates.number(some_min);
        if (extent || !some_extent.defined()) return;
        extent = estimates.number(some_extent);
        if (!extent && no_number.defined()) return;
        where = at.known() ? at : f.function->written;
        if (!extent) no_number = some_extent;
    }

    Span span() const {
        const std::string name = str(f.function->args[dimension], " (dimension ", dimension,
                                     " of the output ", f.name, ")");
        if (!extent && no_number.defined()) {
            refuse(str("the estimated extent of ", name, " has to be a number, but it is ",
                       no_number, ": ", estimates.why_no_number(no_number)));
        }
        if (!extent) {
            refuse(str("the size of the output ", f.name,
                       " has to be estimated: call set_estimate(", f.function->args[dimension],
                       ", min, extent) for its dimension ", dimension));
        }
        if (*extent <= 0)
            refuse(str("the estimated extent of ", name, " has to be positive, not ", *extent));
        return {min.value_or(0), min.value_or(0) + *extent - 1};
    }

private:
    [[noreturn]] void refuse(const std::string &why) const {
        throw CompileError(where, str("to schedule it automatically, ", why));
    }

    const FunctionNode &f;
    const size_t dimension;
    const Estimates &estimates;
    std::optional<int64_t> min, extent;
    Expr no_number;  // an estimate that is none
    Location where;
};

// The size that the user expects of an output, per dimension.
Box estimated(const FunctionNode &f, const program::Schedule &schedule,
              const Estimates &estimates) {
    Box box;
    for (size_t d = 0; d < f.function->args.size(); d++) {
        const Symbol arg = f.function->args[d];
        EstimatedSpan span(f, d, estimates);
        for (const auto &[e, at, order] : directives_of<program::EstimateDirective>(f, schedule)) {
            if (e.var == arg) span.take(e.min, e.extent, at);
        }
        if (!f.function->output_buffers.empty() && f.function->output_buffers[0]) {
            const program::DimensionConstraint &c =
                f.function->output_buffers[0]->constraints.at(d);
            span.take(c.min_estimate, c.extent_estimate, {});
            span.take(c.min, c.extent, {});
        }
        for (const auto &[b, at, order] : directives_of<program::BoundDirective>(f, schedule)) {
            if (b.var == arg) span.take(b.min, b.extent, at);
        }
        box.push_back(span.span());
    }
    return box;
}

void unite(Box &box, const Box &other) {
    for (size_t d = 0; d < box.size(); d++) box[d].unite(other[d]);
}

}  // namespace

std::optional<Span> Graph::estimate_of(const FunctionNode &f, size_t dimension) const {
    for (const auto &[e, at, order] : directives_of<program::EstimateDirective>(f, by_hand)) {
        const auto extent = estimates.number(e.extent);
        if (e.var != f.function->args[dimension] || !extent) continue;
        const int64_t min = estimates.number(e.min).value_or(0);
        return Span{min, min + *extent - 1};
    }
    return std::nullopt;
}

std::vector<Span> Graph::spans_of(const StageNode &stage) const {
    const FunctionNode &f = functions[size_t(stage.function)];
    std::vector<Span> spans;
    for (size_t d : stage.dimensions) spans.push_back(f.required[d]);
    spans.insert(spans.end(), stage.domain.begin(), stage.domain.end());
    return spans;
}

// Producers first.
void Graph::find_room() {
    for (FunctionNode &f : functions) {
        f.room.assign(f.function->args.size(), FunctionNode::far_beyond);
        for (int s : f.stages) {
            const StageNode &stage = stages[size_t(s)];
            std::vector<Span> spans = spans_of(stage);
            for (size_t v = 0; v < stage.pure; v++) {
                int64_t &room = f.room[stage.dimensions[v]];
                room = std::min(room, room_along(stage, spans, v));
                spans[v].min -= room;
                spans[v].max += room;
            }
        }
    }
}

int64_t Graph::room_along(const StageNode &stage, std::vector<Span> spans, size_t variable) const {
    const auto is_there = [&](const Access &a) {
        const bool is_image = a.source.image >= 0;
        if (a.source.function == stage.function) return true;
        const Box &all = is_image ? images[size_t(a.source.image)].box
                                  : functions[size_t(a.source.function)].required;
        for (size_t d = 0; d < all.size(); d++) {
            const int64_t room = is_image ? 0 : functions[size_t(a.source.function)].room[d];
            const Span read = a.index[d].run(spans);
            const bool is_within = read.min >= all[d].min - room && read.max <= all[d].max + room;
            if (room < FunctionNode::far_beyond && !is_within) return false;
        }
        return true;
    };
    const Span all = spans[variable];
    for (int64_t room = FunctionNode::far_beyond; room > 0; room /= 2) {
        spans[variable] = {all.min - room, all.max + room};
        if (std::ranges::all_of(stage.accesses, is_there)) return room;
    }
    return 0;
}

// Consumers first: of an output what is promised, of others what is read there.
void Graph::find_constant_regions() {
    for (FunctionNode &f : functions) {
        f.is_constant.assign(f.function->args.size(), !f.is_output);
        for (const auto &b : f.function->schedule.bounds) {
            const bool is_number = b.directive.min.defined() && as_const_int(b.directive.min) &&
                                   as_const_int(b.directive.extent);
            const std::optional<size_t> dimension = dimension_of(*f.function, b.directive.var);
            if (is_number && dimension) f.is_constant[*dimension] = true;
        }
    }
    for (auto f = functions.rbegin(); f != functions.rend(); ++f) {
        for (int s : f->stages) {
            const StageNode &stage = stages[size_t(s)];
            for (const Access &a : stage.accesses) {
                if (a.source.function < 0 || a.source.function == stage.function) continue;
                FunctionNode &from = functions[size_t(a.source.function)];
                for (size_t d = 0; d < a.index.size(); d++) {
                    if (a.is_by_extern || !is_constant(stage, a.index[d]))
                        from.is_constant[d] = false;
                }
            }
        }
    }
}

bool Graph::is_constant(const StageNode &stage, const IndexProgram &index) const {
    const FunctionNode &f = functions[size_t(stage.function)];
    for (size_t v = 0; v < stage.variables.size(); v++) {
        if (index.growth(v).is_none()) continue;
        if (v >= stage.pure) {
            const program::ReductionVariable &r = stage.definition->reduction[v - stage.pure];
            if (!as_const_int(r.min) || !as_const_int(r.extent)) return false;
            continue;
        }
        if (!f.is_constant[stage.dimensions[v]]) return false;
    }
    return true;
}

void add_reads(const StageNode &stage, std::span<const Span> variables, const Source &source,
               Box &box) {
    for (const Access &a : stage.accesses) {
        if (a.source != source) continue;
        for (size_t d = 0; d < box.size(); d++) box[d].unite(a.index[d].run(variables));
    }
}

// Goes from the outputs to the inputs.
void Graph::require_regions() {
    constexpr int64_t unlimited = int64_t(1) << 39;
    for (FunctionNode &f : functions) {
        if (f.is_output) f.estimated = estimated(f, by_hand, estimates);
        f.required = f.is_output ? f.estimated : Box(f.function->args.size(), Span{0, -1});
    }
    std::vector<bool> has_estimate;
    for (const ImageNode &image : images) {
        has_estimate.push_back(std::ranges::none_of(image.box, &Span::is_empty));
    }
    for (int n = int(functions.size()) - 1; n >= 0; n--) {
        FunctionNode &f = functions[size_t(n)];
        // Its box includes what updates write and read of it.
        for (int s : f.stages) {
            const StageNode &stage = stages[size_t(s)];
            if (stage.number == 0) continue;
            const std::vector<Span> spans = spans_of(stage);
            Box own = f.required;
            for (size_t d = 0; d < own.size(); d++) {
                const Span written = stage.writes[d].run(spans);
                if (written.max < unlimited && written.min > -unlimited) own[d].unite(written);
            }
            add_reads(stage, spans, {.function = n}, own);
            f.required = own;
        }
        for (int s : f.stages) {
            const StageNode &stage = stages[size_t(s)];
            const std::vector<Span> spans = spans_of(stage);
            for (const Access &a : stage.accesses) {
                const Source &from = a.source;
                if (from.function == n) continue;
                if (from.image >= 0 && has_estimate[size_t(from.image)]) continue;
                Box read;
                for (const IndexProgram &i : a.index) read.push_back(i.run(spans));
                unite(from.function >= 0 ? functions[size_t(from.function)].required
                                         : images[size_t(from.image)].box,
                      read);
            }
        }
    }
}

}  // namespace tessera::autoscheduler

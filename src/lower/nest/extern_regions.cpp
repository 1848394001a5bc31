#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/nest/facts.h"
#include "lower/nest/insertion_points.h"
#include "lower/nest/regions.h"

// The answers of extern stages to bounds queries at an insertion point: what they read and compute.
namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::IntervalScope;
using algebra::simplify;

bool RegionInference::is_piece_of(const program::FunctionContents &f) const {
    return insertion_point.owner && &insertion_point.owner->func == &f;
}

const StageRegion &RegionInference::piece() {
    if (bound_piece) return *bound_piece;
    const program::FunctionContents &f = insertion_point.owner->func;
    const IntervalScope scope = insertion_point.owner->box(insertion_point.fixed());
    StageRegion region;
    for (Symbol arg : f.args) {
        const Interval &i = *scope.find(arg);
        auto named = [&](const Expr &e, const char *end) {
            if (is_const(e) || e.as<ir::Variable>()) return e;
            return bind(Symbol::fresh(str(f.name, ".", arg, end)), e);
        };
        region.min.push_back(named(i.min, ".min_piece"));
        region.max.push_back(named(i.max, ".max_piece"));
    }
    return bound_piece.emplace(std::move(region));
}

const ExternQuery &RegionInference::ask_for_piece() {
    return query_of(insertion_point.owner->func);
}

// Returns the part of the extern stage that is needed here: where one of its loops runs, what that
// computes.
StageRegion RegionInference::asked_of(const program::FunctionContents &f) {
    if (is_piece_of(f)) return piece();
    const StageRegion &needed = stage_regions(f.name)[0];
    std::vector<Expr> last = needed.max;
    for (const StageNestRef &nest : built.stages.at(f.name)[0]) {
        const std::vector<Expr> rounded = rounded_max(*nest, needed);
        for (size_t d = 0; d < last.size(); d++) {
            if (nest->rounds(int(d))) last[d] = simplify(max(last[d], rounded[d]));
        }
    }
    return {needed.min, last};
}

// One query per insertion point, with the region of the extern stage's output that is needed here.
const ExternQuery &RegionInference::query_of(const program::FunctionContents &f) {
    auto found = queries.find(f.name);
    if (found != queries.end()) return found->second;
    const StageRegion region = asked_of(f);
    ExternQuery query = query_extern_stage(f, region, context);
    lets.insert(lets.end(), query.lets.begin(), query.lets.end());
    asserts.push_back(query.check);
    const bool is_call = is_piece_of(f) && insertion_point.is_call_of_piece();
    const bool is_fixed = is_computed_here.contains(f.name) && !may_enlarge(f, context);
    if (!context.is_output(f.name) && (is_call || is_fixed)) {
        asserts.push_back(check_not_enlarged(f, region, query.outputs));
    }
    return queries.emplace(f.name, std::move(query)).first->second;
}

// Returns true if storage of the input is made anew in the loops of an extern stage that reads it.
static bool is_stored_within(const program::FunctionContents &f,
                             const program::FunctionContents &input) {
    const program::LoopLevel &level = store_level(input.schedule);
    return level.is_at() && level.func() == f.name;
}

// Returns true if the input has folded storage and is computed in the loops of an extern stage that
// reads it. Outside of these loops nothing is known of what it holds, so that each call is checked.
static bool is_folded_within(const program::FunctionContents &f,
                             const program::FunctionContents &input) {
    const program::LoopLevel &level = input.schedule.compute_level;
    return asks_for_fold(input) && level.is_at() && level.func() == f.name;
}

// Returns what is held of an input. Storage that is folded holds what was computed last.
Box RegionInference::held_of_input(const program::ExternFuncArgument &input) const {
    if (!input.func) return held_of(input.buffer->name, input.buffer->dimensions);
    const program::FunctionContents &f = *input.func;
    if (!asks_for_fold(f)) return held_of(f.name, f.dimensions());
    const RegionSymbols &symbols = built.region_symbols.at(f.name).back();
    Box box;
    for (size_t d = 0; d < symbols.min.size(); d++) {
        box.push_back({ir::Variable::make(Int(32), symbols.min[d]),
                       ir::Variable::make(Int(32), symbols.max[d])});
    }
    return box;
}

static Expr is_not_empty(const StageRegion &region) {
    Expr all = const_true();
    for (size_t d = 0; d < region.min.size(); d++) all = all && region.min[d] <= region.max[d];
    return simplify(all);
}

// A stage that computes nothing reads nothing, whatever it has said of a region that is rounded up.
void RegionInference::check_answers(const std::function<bool(Symbol)> &is_stored_here) {
    for (const program::FunctionRef &f : context.order) {
        auto query = queries.find(f->name);
        if (query == queries.end()) continue;
        const bool is_call = is_piece_of(*f) && insertion_point.is_call_of_piece();
        if (!is_call && !is_computed_here.contains(f->name)) continue;
        const Expr runs = is_not_empty(is_call ? piece() : stage_regions(f->name)[0]);
        for (const program::ExternFuncArgument &a : f->extern_definition->args) {
            if (!a.func && !a.buffer) continue;
            const Symbol input = a.func ? a.func->name : a.buffer->name;
            if (a.func && (is_stored_here(input) || is_stored_within(*f, *a.func))) continue;
            if (a.func && !is_call && is_folded_within(*f, *a.func)) continue;
            const Box &wanted = query->second.inputs.at(input);
            const Stmt check = check_input_holds(*f, input, wanted, held_of_input(a));
            asserts.push_back(is_one(runs) ? check : IfThenElse::make(runs, check));
        }
    }
}

// All that the extern stage wants to compute where this much is needed, here or further in. Its
// reads for that are another question, of the region found here; if it then wants to compute still
// more, that is not required of it.
Box RegionInference::enlarged(const program::FunctionContents &f, const Box &needed) {
    StageRegion asked;
    for (size_t d = 0; d < needed.size(); d++) {
        auto name = [&](const char *end) {
            return Symbol::fresh(str(f.name, ".", f.args[d], end));
        };
        asked.min.push_back(bind(name(".min_asked"), needed[d].min));
        asked.max.push_back(bind(name(".max_asked"), needed[d].max));
    }
    ExternQuery query = query_extern_stage(f, asked, context);
    lets.insert(lets.end(), query.lets.begin(), query.lets.end());
    asserts.push_back(query.check);
    return query.outputs;
}

}  // namespace tessera::lower

#include "autoscheduler/plan.h"
#include "autoscheduler/loop_tree.h"
#include <algorithm>
#include <numeric>
#include <set>
#include <span>

namespace tessera::autoscheduler {

using namespace program;
using program::LoopLevel;

namespace {

using Levels = PlaceLevels;

// The largest number up to `wanted` of which the loop has whole pieces: exactly so, or, unless
// `divides`, at least one.
int64_t factor_within(int64_t wanted, int64_t extent, bool divides) {
    int64_t factor = std::min(wanted, extent);
    while (factor > 1 && divides && extent % factor != 0) factor--;
    return factor;
}
int64_t of_variable(const std::vector<int64_t> &numbers, size_t v) {
    return v < numbers.size() ? numbers[v] : 0;
}

// Makes the steps of one stage.
class StageSteps {
public:
    StageSteps(const Graph &graph, const StageNode &stage, const StagePlan &plan,
               const RegionFacts &facts, Symbol prefetched, int64_t tasks, std::vector<Step> &steps)
        : graph(graph), stage(stage), plan(plan), facts(facts), prefetched(std::move(prefetched)),
          function(*graph.functions[size_t(stage.function)].function), tasks(tasks), steps(steps) {
        for (size_t v = 0; v < stage.variables.size(); v++) {
            taken.insert(stage.variables.name(v).text());
        }
        for (Symbol arg : function.args) taken.insert(arg.text());
    }

    Levels operator()() {
        const size_t before = steps.size();
        for (size_t v = 0; v < stage.pure; v++) split_variable(v);
        for (size_t v = stage.pure; v < stage.variables.size(); v++) split_reduction(v);
        reorder();
        if (!dots.empty()) add(AtomicDirective{});
        for (const auto *some : {&dots, &vectors}) {
            for (const Loop &l : *some) set_kind(l.var, LoopKind::Vectorized);
        }
        for (const auto *some : {&unrolled, &unrolled_reduction}) {
            for (const Loop &l : *some) set_kind(l.var, LoopKind::Unrolled);
        }
        Levels levels = levels_here();
        if (plan.prefetch > 0) prefetch(levels);
        if (plan.parallel) parallelize(levels);
        if (plan.streams) add(StreamStores{});
        if (steps.size() == before && !is_in_structure()) add(Unscheduled{});
        return levels;
    }

private:
    struct Loop {
        Symbol var;
        int64_t extent;
    };

    // Returns true if the structure has scheduled the stage already.
    bool is_in_structure() const {
        return std::ranges::any_of(graph.structure, [&](const Step &step) {
            const auto *s = std::get_if<StageStep>(&step.what);
            return s && step.function == function.name && s->stage == stage.number;
        });
    }
    int64_t extent_of(size_t v) const {
        if (v >= stage.pure) return std::max<int64_t>(1, stage.domain[v - stage.pure].extent());
        const Box &box = graph.functions[size_t(stage.function)].required;
        return std::max<int64_t>(1, box[stage.dimensions[v]].extent());
    }
    // The needed region may be less than a vector: in the loops of others, and elsewhere since
    // `required` is no tight bound.
    TailStrategy tail_of(size_t v) const {
        const FunctionNode &f = graph.functions[size_t(stage.function)];
        const bool may_be_moved = v >= stage.pure || f.is_output || plan.shifts ||
                                  f.may_be_extended(stage.dimensions[v]) ||
                                  (stage.number == 0 && facts.has_whole_piece[stage.dimensions[v]]);
        return may_be_moved ? TailStrategy::Auto : TailStrategy::GuardWithIf;
    }

    template<typename Directive>
    void add(Directive d) {
        steps.push_back({function.name, StageStep{stage.number, {}, {std::move(d), {}}}});
    }
    Symbol new_name(Symbol of, const char *suffix) {
        std::string name = of.text() + suffix;
        while (!taken.insert(name).second) name += suffix;
        return Symbol::interned(name);
    }
    // Splits the loop; it becomes the outer one.
    Symbol split(Loop &loop, size_t v, int64_t factor, const char *outer, const char *inner) {
        const Symbol of = stage.variables.name(v);
        const Symbol o = new_name(of, outer), i = new_name(of, inner);
        const TailStrategy tail = tail_of(v);
        is_guarded |= tail == TailStrategy::GuardWithIf;
        add(Split{loop.var, o, i, Expr(int32_t(factor)), tail});
        loop = {o, (loop.extent + factor - 1) / factor};
        return i;
    }

    void split_variable(size_t v) {
        Loop loop = {stage.variables.name(v), extent_of(v)};
        const Pieces pieces = pieces_of(plan, v, loop.extent);
        if (pieces.tile > 0) {
            const Symbol inner = split(loop, v, pieces.tile, "o", "i");
            tiles.push_back(loop);
            loop = {inner, pieces.tile};
        }
        if (pieces.block > 0) {
            const Symbol within = split(loop, v, pieces.block, "b", "i");
            blocks.push_back(loop);
            loop = {within, pieces.block};
        }
        if (pieces.lanes > 1)
            vectors.push_back({split(loop, v, pieces.lanes, "s", "v"), pieces.lanes});
        if (pieces.unroll > 1)
            unrolled.push_back({split(loop, v, pieces.unroll, "s", "u"), pieces.unroll});
        middle.push_back(loop);
    }

    // Pieces of a reduction are whole: a guard around each step costs more than another size.
    void split_reduction(size_t v) {
        const Symbol name = stage.variables.name(v);
        Loop loop = {name, extent_of(v)};
        if (v == stage.pure && plan.dot > 1 && loop.extent % plan.dot == 0) {
            if (loop.extent == plan.dot) return dots.push_back(loop);
            dots.push_back({split(loop, v, plan.dot, "s", "d"), plan.dot});
        }
        if (of_variable(plan.tile, v) == 1) return chunks.push_back(loop);
        const int64_t tile = factor_within(of_variable(plan.tile, v), loop.extent, true);
        if (tile > 1 && tile < loop.extent) {
            const Symbol inner = split(loop, v, tile, "o", "i");
            chunks.push_back(loop);
            loop = {inner, tile};
        }
        const int64_t unroll = factor_within(of_variable(plan.unroll, v), loop.extent, true);
        if (unroll > 1) unrolled_reduction.push_back({split(loop, v, unroll, "s", "u"), unroll});
        reduction.push_back(loop);
    }

    void reorder() {
        std::vector<Symbol> order;
        auto append = [&](std::span<const Loop> some) {
            for (const Loop &l : some) order.push_back(l.var);
        };
        const size_t rows = plan.rows_within_reduction && !middle.empty() ? 1 : 0;
        append(dots);
        append(vectors);
        append(unrolled);
        append(unrolled_reduction);
        append(std::span(middle).first(rows));
        append(reduction);
        append(std::span(middle).subspan(rows));
        append(chunks);
        append(blocks);
        append(tiles);
        if (order.size() > 1) add(Reorder{order});
    }
    void set_kind(Symbol var, LoopKind kind) { add(SetLoopKind{var, kind}); }

    LoopLevel at(Symbol var) const { return LoopLevel::at(function.name, var, stage.number); }

    Levels levels_here() const {
        Levels levels;
        if (!tiles.empty()) levels.tile = at(tiles.front().var);
        if (!blocks.empty()) levels.block = at(blocks.front().var);
        if (!chunks.empty()) levels.chunk = at(chunks.front().var);
        // Rows are along the second variable, or the only one.
        if (!middle.empty()) levels.row = at(middle[std::min<size_t>(1, middle.size() - 1)].var);
        if (!middle.empty()) levels.step = at(middle.front().var);
        if (!reduction.empty()) levels.step = at(reduction.front().var);
        return levels;
    }

    void prefetch(const Levels &levels) {
        if (!levels.row.is_at() || !prefetched.defined()) return;
        const Symbol row = levels.row.var();
        add(PrefetchDirective{prefetched, row, row, Expr(int32_t(plan.prefetch))});
    }

    // Makes loops parallel from the outside, until there are enough tasks.
    void parallelize(Levels &levels) {
        const bool of_blocks = plan.serial_tiles && !blocks.empty();
        const std::vector<Loop> &from = of_blocks ? blocks : tiles.empty() ? middle : tiles;
        if (from.empty()) return;
        // Rows are left to compute others at.
        const size_t least = &from == &middle && from.size() > 1 ? 1 : 0;
        if (has_guards()) {
            nest_tasks(from, least);
        } else {
            fuse_tasks(from, least, levels);
        }
    }
    // In a loop that is fused, the compiler does not find the iterations that need no guard, and
    // each vector keeps its own.
    bool has_guards() const { return is_guarded || stage.number > 0; }

    void nest_tasks(std::span<const Loop> from, size_t least) {
        int64_t count = 1;
        for (size_t i = from.size(); i-- > least && count < tasks;) {
            set_kind(from[i].var, LoopKind::Parallel);
            count *= from[i].extent;
        }
    }
    void fuse_tasks(std::span<const Loop> from, size_t least, Levels &levels) {
        Loop outer = from.back();
        for (size_t i = from.size() - 1; i-- > least && outer.extent < tasks;) {
            const Symbol fused = new_name(from[i].var, "p");
            add(Fuse{from[i].var, outer.var, fused});
            for (LoopLevel *level : {&levels.tile, &levels.block, &levels.row, &levels.step}) {
                const bool is_gone =
                    level->is_at() && (level->var() == from[i].var || level->var() == outer.var);
                if (is_gone) *level = at(fused);
            }
            outer = {fused, outer.extent * from[i].extent};
        }
        set_kind(outer.var, LoopKind::Parallel);
    }

    const Graph &graph;
    const StageNode &stage;
    const StagePlan &plan;
    const RegionFacts &facts;
    const Symbol prefetched;
    const FunctionContents &function;
    const int64_t tasks;
    std::vector<Step> &steps;
    bool is_guarded = false;
    std::set<std::string> taken;
    // Innermost first.
    std::vector<Loop> dots, vectors, unrolled, unrolled_reduction, reduction, middle, chunks,
        blocks, tiles;
};

// A region that begins at a multiple of the period lets unrolled and vectorized loops know which of
// the repeated points each is.
template<typename Add>
void align_regions(const Graph &graph, const FunctionPlan &plan, int function,
                   const std::vector<int64_t> &periods, Add add) {
    const FunctionNode &f = graph.functions[size_t(function)];
    if (f.is_output || f.is_extern || f.stages.empty()) return;
    const StagePlan &loops = plan.stages[0];
    for (size_t d = 0; d < periods.size(); d++) {
        // Beside what is needed, and again so much where consumers are aligned, too.
        const bool has_room = f.room[d] >= std::min(2 * periods[d], FunctionNode::far_beyond);
        const int64_t unroll = d < loops.unroll.size() ? std::max<int64_t>(1, loops.unroll[d]) : 1;
        const int64_t together = unroll * (loops.vector == int(d) ? loops.lanes : 1);
        if (periods[d] < 2 || !has_room || together % periods[d] != 0) continue;
        add(BoundDirective{f.function->args[d], {}, {}, Expr(int32_t(periods[d])), Expr(0)});
    }
}

// Adds how the values of a function lie in memory. The caller decides that for an output, and a C
// function expects what it reads as it lies without a schedule.
template<typename Add>
void lay_out(const Graph &graph, const FunctionPlan &p, int function, Add add) {
    const FunctionNode &f = graph.functions[size_t(function)];
    if (f.is_output || f.is_read_by_extern || f.function->args.empty()) return;
    const auto is_by_hand = [&]<typename Directive>(std::type_identity<Directive>) {
        return std::ranges::any_of(f.function->schedule.directives, [](const auto &w) {
            return std::holds_alternative<Directive>(w.directive);
        });
    };
    std::vector<Symbol> order = f.function->args;
    const bool is_ordered = is_by_hand(std::type_identity<ReorderStorage>());
    if (!is_ordered && p.innermost > 0 && size_t(p.innermost) < order.size()) {
        std::rotate(order.begin(), order.begin() + p.innermost, order.begin() + p.innermost + 1);
        add(ReorderStorage{order});
    }
    const int64_t lanes = p.stages.empty() ? 1 : p.stages[0].lanes;
    if (p.aligned && lanes > 1 && !is_by_hand(std::type_identity<AlignStorage>()))
        add(AlignStorage{order[0], Expr(int32_t(lanes))});
}

bool is_at_root(const Graph &graph, const Plan &plan, int function) {
    if (!graph.is_fixed[size_t(function)])
        return plan.functions[size_t(function)].place == Place::Root;
    return graph.functions[size_t(function)].function->schedule.compute_level.means_root();
}

// An image that the stage reads, or a function at the root.
Symbol prefetched_by(const Graph &graph, const Plan &plan, const StageNode &stage) {
    for (const Access &a : stage.accesses) {
        const int f = a.source.function;
        if (f == stage.function || (f >= 0 && !is_at_root(graph, plan, f))) continue;
        return f >= 0 ? graph.functions[size_t(f)].function->name
                      : graph.images[size_t(a.source.image)].symbol;
    }
    return {};
}

}  // namespace

const LoopLevel &PlaceLevels::around_rows() const {
    return chunk.is_at() ? chunk : block.is_at() ? block : tile;
}

const LoopLevel &PlaceLevels::of(Place place) const {
    switch (place) {
    case Place::Tile: return tile;
    case Place::Block: return block;
    case Place::Chunk: return chunk;
    case Place::Row: return row;
    default: return step;
    }
}

Pieces pieces_of(const StagePlan &plan, size_t variable, int64_t extent) {
    Pieces pieces;
    const int64_t tile = of_variable(plan.tile, variable);
    const bool is_tiled = tile > 0 && tile < extent;
    if (is_tiled) pieces.tile = extent = tile;
    const int64_t block = factor_within(of_variable(plan.block, variable), extent, is_tiled);
    if (block > 1 && block < extent) pieces.block = extent = block;
    const bool is_whole = is_tiled || pieces.block > 0;  // its parts divide it
    if (int(variable) == plan.vector)
        pieces.lanes = std::max<int64_t>(1, factor_within(plan.lanes, extent, is_whole));
    if (pieces.lanes > 1) extent = (extent + pieces.lanes - 1) / pieces.lanes;
    const int64_t unroll = factor_within(of_variable(plan.unroll, variable), extent, is_whole);
    pieces.unroll = std::max<int64_t>(1, unroll);
    return pieces;
}

bool may_refuse_sizes(const Plan &plan) {
    return std::ranges::any_of(plan.functions, [](const FunctionPlan &f) {
        return std::ranges::any_of(f.stages, &StagePlan::shifts);
    });
}

Place place_by_hand(const Graph &graph, int function) {
    const FunctionNode &f = graph.functions[size_t(function)];
    return is_computed_inline(f, *f.function) ? Place::Inline : Place::Root;
}

Plan plain_plan(const Graph &graph) {
    Plan plan;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        FunctionPlan &p = plan.functions.emplace_back();
        if (graph.is_fixed[n]) p.place = place_by_hand(graph, int(n));
        p.stages.resize(graph.functions[n].stages.size());
    }
    return plan;
}

FunctionDecisions decisions_of(const Graph &graph, const Plan &plan, int function,
                               const PlaceLevels &around, const RegionFacts &facts) {
    const FunctionNode &f = graph.functions[size_t(function)];
    FunctionDecisions d = {
        plan.functions[size_t(function)], LoopLevel::root(), LoopLevel(), facts, {}};
    if (d.plan.place != Place::Root) d.compute_level = around.of(d.plan.place);
    // If there are no rows, it is at the root, with its storage.
    if (d.plan.place == Place::Row)
        d.store_level = around.row.is_at() ? around.around_rows() : LoopLevel::root();
    for (size_t s = 0; s < f.stages.size(); s++) {
        const bool fetches = d.plan.stages[s].prefetch > 0;
        d.prefetched.push_back(
            fetches ? prefetched_by(graph, plan, graph.stages[size_t(f.stages[s])]) : Symbol());
    }
    return d;
}

PlaceLevels add_steps(const Graph &graph, int function, const FunctionDecisions &decisions,
                      int64_t tasks, std::vector<Step> &steps) {
    const FunctionNode &f = graph.functions[size_t(function)];
    const FunctionPlan &p = decisions.plan;
    auto add = [&](auto directive) {
        steps.push_back({f.function->name, FuncStep{{std::move(directive), {}}}});
    };
    if (p.place == Place::Row) add(StoreLevel{decisions.store_level});
    if (p.place != Place::Root || !f.is_output) add(ComputeLevel{decisions.compute_level});
    PlaceLevels levels;
    if (f.is_extern) return levels;
    align_regions(graph, p, function, decisions.facts.periods, add);
    lay_out(graph, p, function, add);
    for (size_t s = 0; s < f.stages.size(); s++) {
        const StageNode &stage = graph.stages[size_t(f.stages[s])];
        levels = StageSteps(graph, stage, p.stages[s], decisions.facts, decisions.prefetched[s],
                            tasks, steps)();
    }
    return levels;
}

Schedule to_schedule(const Graph &graph, const Plan &plan, int64_t tasks) {
    Schedule schedule = graph.by_hand;
    for (const auto *steps : {&graph.places, &graph.structure})
        schedule.steps.insert(schedule.steps.end(), steps->begin(), steps->end());
    std::vector<PlaceLevels> levels(graph.functions.size());
    const std::vector<RegionFacts> facts = region_facts(graph, plan);
    // Consumers first: the loops that others are computed at are made before these are.
    for (size_t n = graph.functions.size(); n-- > 0;) {
        const FunctionPlan &p = plan.functions[n];
        if (graph.is_fixed[n] || p.place == Place::Inline) continue;
        const PlaceLevels around = p.at >= 0 ? levels[size_t(p.at)] : PlaceLevels();
        levels[n] = add_steps(graph, int(n), decisions_of(graph, plan, int(n), around, facts[n]),
                              tasks, schedule.steps);
    }
    return schedule;
}

std::span<const Step> steps_of_plan(const Graph &graph, const Schedule &schedule) {
    return std::span(schedule.steps).subspan(graph.by_hand.steps.size());
}

}  // namespace tessera::autoscheduler

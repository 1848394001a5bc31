#include "autoscheduler/loop_tree.h"
#include "autoscheduler/loop_spans.h"
#include "ir/operators.h"
#include <algorithm>
#include <numeric>
#include <ranges>

namespace tessera::autoscheduler {

using program::FunctionContents;
using program::LoopLevel;
using program::StageSchedule;

namespace {

bool contains(const std::vector<int> &all, int one) {
    return std::ranges::find(all, one) != all.end();
}

std::vector<const FunctionContents *> contents_of(const Graph &graph,
                                                  const program::ScheduledProgram &program) {
    std::map<Symbol, const FunctionContents *> by_name;  // steps may have others for wrappers
    for (const auto &[name, f] : program.functions()) by_name[f->name] = f.get();
    std::vector<const FunctionContents *> all;
    for (const FunctionNode &node : graph.functions) {
        const auto found = by_name.find(node.function->name);
        if (found == by_name.end())
            throw InternalError(str("the program has no function ", node.name));
        all.push_back(found->second);
    }
    return all;
}

// With what is computed beside it so that it begins and ends at multiples, as the schedule says.
Box aligned(Box box, const FunctionContents &f) {
    for (const auto &b : f.schedule.bounds) {
        const std::optional<size_t> dimension = dimension_of(f, b.directive.var);
        if (!b.directive.modulus.defined() || !dimension) continue;
        Span &span = box[*dimension];
        const int64_t modulus = ir::as_const_int(b.directive.modulus).value_or(1);
        const int64_t rest = ir::as_const_int(b.directive.remainder).value_or(0);
        if (modulus < 2 || span.is_empty()) continue;
        const auto rounded_down = [&](int64_t v) {
            const int64_t over = (v - rest) % modulus;
            return v - (over < 0 ? over + modulus : over);
        };
        span = {rounded_down(span.min), rounded_down(span.max) + modulus - 1};
    }
    return box;
}

// The pieces that the loops of the first definition are split into without a guard, per dimension.
std::vector<int64_t> whole_pieces(const FunctionContents &f) {
    std::vector<int64_t> least(f.args.size(), 1);
    if (f.stages.empty()) return least;
    for (const auto &written : f.stages[0]->schedule.transforms) {
        const auto *split = std::get_if<program::Split>(&written.directive);
        if (!split || split->tail == TailStrategy::GuardWithIf) continue;
        const std::optional<size_t> dimension = dimension_of(f, split->old);
        if (dimension) least[*dimension] = ir::as_const_int(split->factor).value_or(1);
    }
    return least;
}

// Makes each extent at least so much.
void extend(Box &box, const std::vector<int64_t> &least) {
    for (size_t d = 0; d < std::min(box.size(), least.size()); d++) {
        if (!box[d].is_empty()) box[d].max = std::max(box[d].max, box[d].min + least[d] - 1);
    }
}

}  // namespace

size_t innermost_of(const FunctionContents &f) {
    if (f.schedule.storage.empty()) return 0;
    return dimension_of(f, f.schedule.storage[0].var).value_or(0);
}

bool is_computed_inline(const FunctionNode &node, const FunctionContents &f) {
    return f.schedule.compute_level.means_inlined() && !node.is_output;
}

LoopTree::LoopTree(const Graph &graph, std::span<const FunctionContents *const> contents,
                   std::span<const int> functions, const PointWorkOf &point_work)
    : graph(graph), stages(graph.stages.size()), functions(graph.functions.size()),
      schedules(graph.stages.size()), boxes(graph.functions.size() + graph.images.size()) {
    place_all(contents, functions, point_work);
}

LoopTree::LoopTree(const Graph &graph, const program::ScheduledProgram &program)
    : graph(graph), stages(graph.stages.size()), functions(graph.functions.size()),
      schedules(graph.stages.size()), boxes(graph.functions.size() + graph.images.size()),
      program(program) {
    // Consumers first: loops that producers are computed at stand already.
    std::vector<int> all;
    for (int n = int(graph.functions.size()); n-- > 0;) all.push_back(n);
    place_all(contents_of(graph, program), all, [&](int s, const std::vector<bool> &is_inlined) {
        return std::make_shared<PointWork>(graph, graph.stages[size_t(s)], is_inlined);
    });
}

void LoopTree::place_all(std::span<const FunctionContents *const> contents,
                         std::span<const int> some, const PointWorkOf &point_work) {
    std::vector<bool> is_inlined(functions.size());
    for (size_t n = 0; n < functions.size(); n++) {
        is_inlined[n] = is_computed_inline(graph.functions[n], *contents[n]);
        functions[n].is_inlined = is_inlined[n];
        functions[n].innermost = innermost_of(*contents[n]);
        for (int s : graph.functions[n].stages)
            stages[size_t(s)].is_inlined = functions[n].is_inlined;
    }
    for (int n : some) {
        if (functions[size_t(n)].is_inlined) continue;
        place(n, *contents[size_t(n)]);
        const std::vector<int> &of = graph.functions[size_t(n)].stages;
        computed.insert(computed.end(), of.begin(), of.end());
    }
    std::ranges::sort(computed);
    for (int s : computed) {
        stages[size_t(s)].point = point_work(s, is_inlined);
        for (const Leaf &leaf : stages[size_t(s)].point->leaves) {
            // The values of another group are all there.
            const int f = leaf.source.function;
            if (f >= 0 && functions[size_t(f)].stored.empty())
                functions[size_t(f)].stored = graph.functions[size_t(f)].required;
        }
    }
}

// Finds the level in the last stage that reads the function, where several have one. A level of the
// user's schedule may be unknown here, such as that of a specialization: -1.
int LoopTree::find_level(const LoopLevel &level, int function) const {
    const int around = graph.find(level.func());
    int found = -1;
    bool reads = false;
    for (int s : around < 0 ? std::vector<int>() : graph.functions[size_t(around)].stages) {
        if (level.stage() >= 0 && graph.stages[size_t(s)].number != level.stage()) continue;
        for (int loop : stages[size_t(s)].loops) {
            if (loops[size_t(loop)].var != level.var()) continue;
            const bool reads_here = is_read_in(function, loop);
            if (reads && !reads_here) continue;
            found = loop;
            reads = reads_here;
        }
    }
    if (found < 0 && !graph.is_fixed[size_t(function)])
        throw CompileError(str("there is no loop ", level));
    return found;
}

bool LoopTree::is_read_in(int function, int loop) const {
    return std::ranges::any_of(graph.functions[size_t(function)].consumers, [&](int c) {
        const TreeStage &consumer = stages[size_t(c)];
        if (consumer.is_inlined) return is_read_in(graph.stages[size_t(c)].function, loop);
        return contains(consumer.loops, loop) || contains(consumer.enclosing, loop);
    });
}

void LoopTree::require_consumers_within(int function, int loop) const {
    for (int c : graph.functions[size_t(function)].consumers) {
        const TreeStage &consumer = stages[size_t(c)];
        if (consumer.is_inlined) {
            require_consumers_within(graph.stages[size_t(c)].function, loop);
        } else if (!contains(consumer.loops, loop) && !contains(consumer.enclosing, loop)) {
            throw CompileError(str(graph.functions[size_t(function)].name,
                                   " is read outside of the loop that it is computed at"));
        }
    }
}

// If storage is kept around serial loops, each iteration computes only what is new along the
// dimension that they run along, and no more is stored than one needs. Each iteration of other
// loops in between begins anew, with all that was stored.
void LoopTree::slide(int function) {
    TreeFunction &f = functions[size_t(function)];
    if (f.store_level == f.compute_level) return;
    int different = 0;
    size_t along = 0;
    for (size_t d = 0; d < f.stored.size(); d++) {
        if (f.stored[d].extent() == f.computed[d].extent()) continue;
        different++;
        along = d;
    }
    int64_t steps = 1;
    bool begins_anew = false;
    for (int l = f.compute_level; l >= 0 && l != f.store_level; l = loops[size_t(l)].parent) {
        const TreeLoop &loop = loops[size_t(l)];
        if (loop.kind == LoopKind::Parallel && !graph.is_fixed[size_t(function)])
            throw CompileError("iterations of a parallel loop would share storage");
        if (loop.kind != LoopKind::Serial) return;
        if (loop.extent < 2 || different != 1) continue;
        const Source source = {.function = function};
        if (box(source, loop.parent)[along].extent() > box(source, l)[along].extent()) {
            steps *= loop.extent;
        } else {
            begins_anew = true;
        }
    }
    if (different != 1 || steps < 2) return;
    Span &computed = f.computed[along];
    // The first iteration computes all that it needs, each later one a step further: here, all do
    // the same.
    const int64_t is_new = (f.stored[along].extent() + steps / 2) / steps;
    if (!begins_anew) f.stored[along] = computed;
    computed.min = std::max(computed.min, computed.max - std::max<int64_t>(is_new, 1) + 1);
}

void LoopTree::place(int function, const FunctionContents &f) {
    TreeFunction &placed = functions[size_t(function)];
    const FunctionNode &node = graph.functions[size_t(function)];
    if (!node.is_output) placed.least = whole_pieces(f);
    const LoopLevel &level = f.schedule.compute_level;
    if (level.is_at()) {
        placed.compute_level = find_level(level, function);
        // Lowering refuses what the user has scheduled, if it has to.
        if (!graph.is_fixed[size_t(function)])
            require_consumers_within(function, placed.compute_level);
    }
    placed.schedule = &f.schedule;
    placed.store_level = placed.compute_level;
    if (f.schedule.store_level_set && f.schedule.store_level.means_root()) placed.store_level = -1;
    if (f.schedule.store_level_set && f.schedule.store_level.is_at()) {
        placed.store_level = find_level(f.schedule.store_level, function);
    }
    for (size_t i = 0; i < node.stages.size(); i++) {
        schedules[size_t(node.stages[i])] = &f.stages[i]->schedule;
    }
    placed.computed = aligned(box({.function = function}, placed.compute_level), f);
    placed.stored = aligned(box({.function = function}, placed.store_level), f);
    slide(function);
    for (size_t d = 0; d < f.args.size(); d++) {
        placed.multiple.push_back(multiple_by_bounds(function, d));
        int64_t &multiple = placed.multiple.back();
        if (multiple != 0 && placed.compute_level >= 0 && graph.has_periods)
            multiple = std::lcm(multiple, multiple_by_readers(function, d));
    }
    for (int s : node.stages) {
        stages[size_t(s)].spans = full_spans(s, placed.computed);
        add_loops(s, *schedules[size_t(s)], placed.compute_level);
    }
}

// Returns what is said of the function itself.
int64_t LoopTree::multiple_by_bounds(int function, size_t d) const {
    const FunctionNode &node = graph.functions[size_t(function)];
    const TreeFunction &f = functions[size_t(function)];
    const bool is_whole = f.computed.empty() || f.computed[d] == node.required[d];
    if (node.is_constant[d] && is_whole) return 0;
    int64_t multiple = 1;
    for (const auto &b : f.schedule->bounds) {
        if (b.directive.var != node.function->args[d]) continue;
        if (b.directive.min.defined() && ir::as_const_int(b.directive.min)) return 0;
        if (!b.directive.modulus.defined()) continue;
        multiple = std::lcm(multiple, ir::as_const_int(b.directive.modulus).value_or(1));
    }
    return multiple;
}

// Returns what follows from where its readers begin in an iteration of its loop: pieces of a reader
// that begins at a multiple do so, too, and so does what is read at x / 8 * 8 + k. Tries some
// multiples of what is known, and takes what the first elements that are read then have in common.
int64_t LoopTree::multiple_by_readers(int function, size_t d) {
    const Source source = {.function = function};
    const int loop = functions[size_t(function)].compute_level;
    int64_t common = 0;
    for (const int64_t some : {1, 2, 3, 8, 64, 129, 1000}) {
        std::optional<int64_t> first;
        for (int c : graph.functions[size_t(function)].consumers) {
            const TreeStage &consumer = stages[size_t(c)];
            const StageNode &node = graph.stages[size_t(c)];
            const bool is_placed = !functions[size_t(node.function)].multiple.empty();
            if (consumer.is_inlined || !is_placed) return 1;
            std::vector<Span> at = spans(c, loop);
            const std::vector<int64_t> multiples = multiples_in(c, loop);
            for (size_t v = 0; v < node.pure; v++) {
                if (multiples[v] == 0) continue;
                const int64_t extent = at[v].extent();
                at[v].min = multiples[v] * some;
                at[v].max = at[v].min + extent - 1;
            }
            for (const Access &a : node.accesses) {
                if (!(a.source == source)) continue;
                if (a.is_by_extern) return 1;
                const int64_t begin = a.index[d].run(at).min;
                first = std::min(first.value_or(begin), begin);
            }
        }
        if (!first) return 1;
        common = std::gcd(common, *first);
        if (common == 1) break;
    }
    return std::max<int64_t>(common, 1);
}

// Returns the multiples at which a stage's pure variables begin in each iteration of a loop: a
// piece of variables that are split begins after others as long. 0: at a place that is known.
std::vector<int64_t> LoopTree::multiples_in(int stage, int loop) {
    const StageNode &node = graph.stages[size_t(stage)];
    const TreeFunction &f = functions[size_t(node.function)];
    const std::vector<Span> all = stages[size_t(stage)].spans, piece = spans(stage, loop);
    std::vector<int64_t> multiples;
    for (size_t v = 0; v < node.pure; v++) {
        const int64_t multiple = f.multiple[node.dimensions[v]];
        const bool is_split = piece[v].extent() != all[v].extent();
        if (!is_split) {
            multiples.push_back(multiple);
        } else {
            const int64_t from = multiple == 0 ? all[v].min : multiple;
            multiples.push_back(std::gcd(from, piece[v].extent()));
        }
    }
    return multiples;
}

void LoopTree::add_loops(int stage, const StageSchedule &schedule, int parent) {
    TreeStage &s = stages[size_t(stage)];
    for (int loop = parent; loop >= 0; loop = loops[size_t(loop)].parent) {
        s.enclosing.insert(s.enclosing.begin(), loop);
    }
    const LoopSpans spans(schedule, graph.stages[size_t(stage)].variables, s.spans);
    for (const program::Loop &l : std::views::reverse(schedule.loops)) {
        s.loops.push_back(int(loops.size()));
        loops.push_back({stage, l.var, l.kind, l.is_reduction, spans.extent(l.var), parent});
        parent = s.loops.back();
    }
}

std::vector<Span> LoopTree::full_spans(int stage, const Box &box) const {
    const StageNode &node = graph.stages[size_t(stage)];
    std::vector<Span> result;
    for (size_t d : node.dimensions) result.push_back(box[d]);
    result.insert(result.end(), node.domain.begin(), node.domain.end());
    return result;
}

std::vector<Span> LoopTree::spans(int stage, int loop) {
    const StageNode &node = graph.stages[size_t(stage)];
    TreeStage &s = stages[size_t(stage)];
    // There, a window that slides computes what is new.
    const TreeFunction &f = functions[size_t(node.function)];
    if (loop >= 0 && !f.is_inlined && loop == f.compute_level) return s.spans;
    const auto own = std::ranges::find(s.loops, loop);
    if (loop < 0 || own == s.loops.end()) {
        return full_spans(stage, box({.function = node.function}, loop));
    }
    std::vector<Symbol> fixed;
    for (auto l = s.loops.begin(); l <= own; ++l) fixed.push_back(loops[size_t(*l)].var);
    return LoopSpans(*schedules[size_t(stage)], node.variables, s.spans)
        .variables_with_fixed(fixed);
}

const Box &LoopTree::box(const Source &source, int loop) {
    const bool is_image = source.image >= 0;
    const Box &all = is_image ? graph.images[size_t(source.image)].box
                              : graph.functions[size_t(source.function)].required;
    if (loop < 0) return all;
    auto &known =
        boxes[is_image ? graph.functions.size() + size_t(source.image) : size_t(source.function)];
    if (auto found = known.find(loop); found != known.end()) return found->second;
    Box result(all.size(), Span{0, -1});
    for (int c : is_image ? graph.images[size_t(source.image)].consumers
                          : graph.functions[size_t(source.function)].consumers) {
        const TreeStage &consumer = stages[size_t(c)];
        const bool is_inside = consumer.is_inlined || contains(consumer.loops, loop) ||
                               contains(consumer.enclosing, loop);
        if (!is_inside) continue;
        const std::vector<Span> at = spans(c, loop);
        if (std::ranges::any_of(at, &Span::is_empty)) continue;
        add_reads(graph.stages[size_t(c)], at, source, result);
    }
    for (size_t d = 0; d < result.size(); d++) result[d].intersect(all[d]);
    if (!is_image) {
        const TreeFunction &f = functions[size_t(source.function)];
        const bool is_computed_there = f.compute_level >= 0 && is_within(f.compute_level, loop);
        if (is_computed_there) extend(result, f.least);
    }
    return known[loop] = std::move(result);
}

Box LoopTree::reads_of(int stage, const Source &source, int loop) {
    Box result(box(source, loop).size(), Span{0, -1});
    std::map<int, Box> inlined;  // that are still to be followed
    const auto add = [&](const StageNode &node, const std::vector<Span> &variables) {
        add_reads(node, variables, source, result);
        for (const Access &a : node.accesses) {
            const int f = a.source.function;
            if (f < 0 || !functions[size_t(f)].is_inlined) continue;
            Box &read = inlined.try_emplace(f, a.index.size(), Span{0, -1}).first->second;
            add_reads(node, variables, a.source, read);
        }
    };
    add(graph.stages[size_t(stage)], spans(stage, loop));
    while (!inlined.empty()) {  // consumers first
        const auto [f, read] = *inlined.rbegin();
        inlined.erase(f);
        const int pure = graph.functions[size_t(f)].stages[0];
        add(graph.stages[size_t(pure)], full_spans(pure, read));
    }
    for (size_t d = 0; d < result.size(); d++) result[d].intersect(box(source, loop)[d]);
    return result;
}

double LoopTree::iterations(int loop) const {
    double product = 1;
    for (; loop >= 0; loop = loops[size_t(loop)].parent)
        product *= double(loops[size_t(loop)].extent);
    return product;
}

bool LoopTree::is_within(int loop, int outer) const {
    if (outer < 0) return true;
    for (; loop >= 0; loop = loops[size_t(loop)].parent) {
        if (loop == outer) return true;
    }
    return false;
}

}  // namespace tessera::autoscheduler

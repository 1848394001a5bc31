#include "autoscheduler/stage_view.h"
#include "program/loop_transforms.h"
#include <algorithm>
#include <cmath>
#include <ranges>

namespace tessera::autoscheduler {

double bytes_in(const Box &box, int element, size_t innermost, int64_t of_whole_row) {
    constexpr double line_bytes = 64;
    if (box.empty()) return element;
    const double row = double(box[innermost].extent());
    if (row <= 0) return 0;
    if (box[innermost].extent() == of_whole_row) return points_in(box) * element + line_bytes / 2;
    double bytes = std::ceil(row * element / line_bytes + 0.5) * line_bytes;
    for (size_t d = 0; d < box.size(); d++) {
        if (d != innermost) bytes *= double(box[d].extent());
    }
    return bytes;
}

StageView::StageView(LoopTree &tree, const Machine &machine, int stage)
    : tree(tree), graph(tree.graph), machine(machine), node(graph.stages[size_t(stage)]),
      placed(tree.stages[size_t(stage)]), point(*placed.point),
      function(graph.functions[size_t(node.function)]), stage(stage) {
    find_loops();
    find_guards();
    touched = sources();
}

void StageView::find_guards() {
    for (const auto &written : tree.schedule(stage)->transforms) {
        const auto *split = std::get_if<program::Split>(&written.directive);
        if (!split || split->tail != TailStrategy::GuardWithIf) continue;
        for (int l : placed.loops) {
            if (loop(l).var != split->inner) continue;
            has_guarded_lanes |= loop(l).kind == LoopKind::Vectorized;
            has_guarded_unroll |= loop(l).kind == LoopKind::Unrolled;
        }
    }
}

int StageView::variable_of(int l) const {
    const auto &schedule = *tree.schedule(stage);
    const std::vector<Symbol> roots = program::roots_of_loop(schedule, loop(l).var);
    return roots.empty() ? node.variables.find(loop(l).var) : node.variables.find(roots[0]);
}

bool StageView::is_left_in_code(int l) const { return traits_of(loop(l).kind).has_code; }

void StageView::find_loops() {
    for (int l : placed.loops) {
        const TreeLoop &tl = loop(l);
        points_once *= double(tl.extent);
        if (tl.kind == LoopKind::Vectorized && tl.is_reduction && vector_variable >= 0) {
            dot_lanes *= double(tl.extent);
        } else if (tl.kind == LoopKind::Vectorized) {
            lanes *= double(tl.extent);
            vector_variable = variable_of(l);
        }
    }
    // Loops inside of the innermost one that is left in the code. One of a single iteration is
    // none, unless there is no other.
    for (int l : placed.loops) {
        if (!is_left_in_code(l)) continue;
        const bool is_first = innermost < 0;
        if (is_first || loop(l).extent > 1) innermost = l;
    }
    bool is_inside = false;
    for (int l : placed.loops) {
        const TreeLoop &tl = loop(l);
        // A loop within a vector's goes on for all of its lanes at once.
        if (is_inside || tl.kind == LoopKind::Vectorized || innermost < 0) {
            const int v = variable_of(l);
            auto [inner, is_new] = inner_variables.try_emplace(v, 1);
            inner->second *= double(tl.extent);
            body_points *= double(tl.extent);
            if (v < int(node.pure)) body_values *= double(tl.extent);
        }
        is_inside |= l == innermost;
    }
    productions = tree.iterations(placed.enclosing.empty() ? -1 : placed.enclosing.back());
    points = points_once * productions;
}

std::vector<int> StageView::loops_in_code() const {
    std::vector<int> around = {-1};
    for (const auto *some : {&placed.enclosing, &placed.loops}) {
        for (int l : *some) {
            if (is_left_in_code(l)) around.push_back(l);
        }
    }
    return around;
}

double StageView::points_served(const std::function<bool(int)> &depends) const {
    double served = 1;
    for (const auto &[variable, extent] : inner_variables) {
        if (variable != vector_variable && variable >= 0 && !depends(variable)) served *= extent;
    }
    if (innermost >= 0) {
        const int v = variable_of(innermost);
        if (v >= 0 && !depends(v)) served *= double(loop(innermost).extent);
    }
    return served;
}

double StageView::vectors_per_row() const {
    const double row = double(placed.spans[size_t(vector_variable)].extent());
    return std::max(1.0, row / lanes);
}

double StageView::stride(const std::vector<std::vector<double>> &slopes, int f) const {
    const size_t innermost = innermost_of(f);
    if (innermost >= slopes.size() || vector_variable < 0) return 1;
    return std::abs(slopes[innermost][size_t(vector_variable)]);
}

AccessPattern StageView::pattern(const std::vector<std::vector<double>> &slopes, int f) const {
    if (lanes <= 1 || vector_variable < 0) return AccessPattern::Dense;
    const auto v = size_t(vector_variable);
    bool is_same = true, is_in_row = true;
    for (size_t d = 0; d < slopes.size(); d++) {
        if (slopes[d][v] == 0) continue;  // false where it is not a number
        is_same = false;
        if (d != innermost_of(f)) is_in_row = false;
    }
    if (is_same) return AccessPattern::Same;
    const double step = stride(slopes, f);
    if (is_in_row && step <= 1) return AccessPattern::Dense;
    return is_in_row && step <= 4 ? AccessPattern::Strided : AccessPattern::Gathered;
}

std::vector<std::vector<double>> StageView::write_slopes(bool &is_known) const {
    std::vector<std::vector<double>> slopes;
    is_known = true;
    for (const IndexProgram &w : node.writes) {
        std::vector<double> of;
        for (size_t v = 0; v < node.variables.size(); v++) of.push_back(w.slope(v));
        slopes.push_back(std::move(of));
        is_known &= !w.reads_data();
    }
    return slopes;
}

double StageView::points_stored_together(const std::vector<std::vector<double>> &writes) const {
    auto depends = [&](int v) {
        return std::ranges::any_of(writes, [&](const auto &of) { return of[size_t(v)] != 0; });
    };
    double together = 1;
    const int around = innermost < 0 ? -1 : variable_of(innermost);
    if (around >= 0 && !depends(around)) together = double(loop(innermost).extent);
    for (const auto &[variable, extent] : inner_variables) {
        if (variable >= 0 && !depends(variable)) together *= extent;
    }
    return together;
}

double StageView::footprint(int l, double cache) const {
    double bytes = 0;
    for (const Leaf &leaf : touched) {
        if (cache > 0 && is_near(leaf, cache)) continue;
        // What is written is read before, and goes out again.
        const bool is_own = leaf.source.function == node.function;
        const double times = cache > 0 && is_own && !tree.schedule(stage)->stream_stores ? 2 : 1;
        const Box box = is_own ? written_in(l) : tree.box(leaf.source, l);
        bytes += times * bytes_in(box, leaf.bytes, innermost_of(leaf.source.function),
                                  whole_row(leaf.source));
    }
    return bytes;
}

const Box &StageView::stored_box(const Source &source) const {
    return source.image >= 0 ? graph.images[size_t(source.image)].box
                             : tree.functions[size_t(source.function)].stored;
}

int64_t StageView::whole_row(const Source &source) const {
    const Box &all = stored_box(source);
    return all.empty() ? 0 : all[innermost_of(source.function)].extent();
}

int64_t StageView::lane_distance(const std::vector<std::vector<double>> &slopes,
                                 const Source &source, int element) const {
    const Box &all = stored_box(source);
    const size_t innermost = innermost_of(source.function);
    if (vector_variable < 0 || all.empty() || slopes.size() != all.size()) return 0;
    double distance = 0, stride = element;
    auto add = [&](size_t d) {
        distance += slopes[d][size_t(vector_variable)] * stride;
        stride *= double(all[d].extent());
    };
    add(innermost);
    for (size_t d = 0; d < all.size(); d++) {
        if (d != innermost) add(d);
    }
    constexpr double most = 1e15;
    return std::abs(distance) < most ? int64_t(std::abs(distance)) : 0;  // it may be no number
}

// What one iteration of a loop writes: in the loops of others, what these need of it.
Box StageView::written_in(int l) const {
    const Box &all = tree.box({.function = node.function}, l);
    if (std::ranges::count(placed.loops, l) == 0) return all;
    const std::vector<Span> variables = tree.spans(stage, l);
    Box written;
    for (const IndexProgram &w : node.writes) {
        written.push_back(w.run(variables));
        written.back().intersect(function.required[written.size() - 1]);
    }
    return written;
}

// Returns true if what is read is still in a cache of this size: values of a function since they
// were computed, or those of an image since another stage read them.
bool StageView::is_near(const Leaf &leaf, double cache) const {
    const int f = leaf.source.function;
    if (f < 0) return is_read_before(leaf, cache);
    const FunctionNode &producer = graph.functions[size_t(f)];
    return bytes_in(tree.functions[size_t(f)].stored, producer.bytes, innermost_of(f)) <= cache / 2;
}

// In an iteration of a loop around both stages, all of the image that is read there stays.
bool StageView::is_read_before(const Leaf &leaf, double cache) const {
    for (int other = 0; other < stage; other++) {
        const TreeStage &before = tree.stages[size_t(other)];
        const bool reads_it =
            before.point && std::ranges::any_of(before.point->leaves, [&](const Leaf &l) {
                return l.source == leaf.source;
            });
        if (!reads_it) continue;
        int shared = -1;
        for (int l : before.enclosing) {
            const bool is_around = std::ranges::count(placed.enclosing, l) > 0 ||
                                   std::ranges::count(placed.loops, l) > 0;
            if (!is_around) break;
            shared = l;
        }
        const bool is_together = shared >= 0;
        if (is_together && bytes_in(tree.box(leaf.source, shared), leaf.bytes) <= cache / 2)
            return true;
    }
    return false;
}

std::vector<Leaf> StageView::sources() const {
    std::vector<Leaf> all;
    for (const Leaf &leaf : point.leaves) {
        const bool is_known =
            std::ranges::any_of(all, [&](const Leaf &l) { return l.source == leaf.source; });
        if (!is_known) all.push_back({leaf.source, leaf.bytes, 1, {}});
    }
    const bool reads_itself =
        std::ranges::any_of(all, [&](const Leaf &l) { return l.source.function == node.function; });
    if (!reads_itself) all.push_back({{.function = node.function}, function.bytes, 1, {}});
    return all;
}

double StageView::tasks() const {
    double tasks = 1;
    for (const auto *some : {&placed.enclosing, &placed.loops}) {
        for (int l : *some) {
            if (loop(l).kind == LoopKind::Parallel) tasks *= double(loop(l).extent);
        }
    }
    return tasks;
}

}  // namespace tessera::autoscheduler

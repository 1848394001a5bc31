#include "autoscheduler/stage_view.h"
#include "program/loop_transforms.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>
#include <utility>

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

double room_in(const Box &box, const Box &all, int element, size_t innermost) {
    // Addresses of one page alone are in order in a cache; pages are anywhere.
    constexpr int64_t bytes_of_page = 4096;
    const int64_t of_whole_row = all.empty() ? 0 : all[innermost].extent();
    const double bytes = bytes_in(box, element, innermost, of_whole_row);
    if (box.empty() || box.size() != all.size() || box[innermost].extent() == of_whole_row) {
        return bytes;
    }
    int64_t apart = bytes_of_page, stride = of_whole_row * element;
    double rows = 1;
    for (size_t d = 0; d < box.size(); d++) {
        if (d == innermost) continue;
        if (box[d].extent() > 1) apart = std::gcd(apart, stride);
        rows *= double(box[d].extent());
        stride = stride * all[d].extent() % bytes_of_page;
    }
    return std::max(bytes, rows * double(apart));
}

StageView::StageView(LoopTree &tree, const Machine &machine, int stage)
    : tree(tree), graph(tree.graph), machine(machine), node(graph.stages[size_t(stage)]),
      placed(tree.stages[size_t(stage)]), function(graph.functions[size_t(node.function)]),
      stage(stage), work(placed.point) {
    find_loops();
    find_guards();
    auto less = work->where([&](const Part &p) {
        const bool is_vector = int(p.variable) == vector_variable;
        if (p.borders != 0) return part_at_borders(p.borders);
        if (p.is_shared) return is_vector ? 1 : 1 / double(extent_in_body(p.variable));
        return knows(p.variable, p.period) ? p.part : 1;
    });
    if (less) work = std::make_shared<PointWork>(std::move(*less));
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

// The part of the points in iterations of loops that meet the border of any of these variables.
double StageView::part_at_borders(uint64_t variables) const {
    double between = 1;
    for (size_t v = 0; v < node.pure; v++) {
        if (v < 64 && (variables >> v & 1) != 0) between *= 1 - part_at_border(v);
    }
    return 1 - between;
}

// The outermost loop of more than a few iterations is split: its first and its last iteration test
// for the border throughout.
double StageView::part_at_border(size_t variable) const {
    constexpr double few = 8;
    const size_t d = node.dimensions[variable];
    const Box &all = tree.box({.function = node.function}, -1);
    if (all.empty()) return 1;
    double pieces = 1;
    for (int l : loops_in_code()) {
        if (l < 0) continue;
        const Box within = written_in(l);
        pieces = double(all[d].extent()) / double(std::max<int64_t>(1, within[d].extent()));
        if (pieces > few) break;
    }
    return std::min(1.0, 2 / std::max(1.0, pieces));
}

bool StageView::is_left_in_code(int l) const { return traits_of(loop(l).kind).has_code; }

void StageView::find_loops() {
    for (int l : placed.loops) {
        const TreeLoop &tl = loop(l);
        points_once *= double(tl.extent);
        if (tl.kind == LoopKind::Vectorized && tl.is_reduction && vector_variable >= 0) {
            dot_lanes *= double(tl.extent);
            dot_variable = variable_of(l);
        } else if (tl.kind == LoopKind::Vectorized) {
            lanes *= double(tl.extent);
            vector_variable = variable_of(l);
        }
    }
    // Partial results that no instruction takes at once are lanes like others.
    double group = 1;
    for (const Machine::DotProduct &d : machine.dot_products)
        group = std::max(group, double(d.group));
    if (dot_lanes > group) lanes *= std::exchange(dot_lanes, 1);
    if (dot_lanes == 1) dot_variable = -1;
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

double StageView::points_served(const Leaf &leaf) const {
    double served = 1;
    for (const auto &[variable, extent] : inner_variables) {
        if (variable == vector_variable || variable < 0) continue;
        served *= points_between_steps(leaf, size_t(variable), extent);
    }
    if (innermost >= 0) {
        const int v = variable_of(innermost);
        const bool is_same = v >= 0 && is_same_in_next_piece(leaf, size_t(v));
        if (is_same) served *= double(loop(innermost).extent);
    }
    return served;
}

// Returns true if the body of the innermost loop, for the piece of the variable that comes next,
// reads the same: it does not depend on the variable, or on its rest by what the piece is a
// multiple of.
bool StageView::is_same_in_next_piece(const Leaf &leaf, size_t variable) const {
    const int64_t piece = extent_in_body(variable);
    return std::ranges::all_of(leaf.growths, [&](const auto &of_dimension) {
        const Growth &growth = of_dimension[variable];
        return growth.is_none() || (growth.repeats && piece % growth.period == 0);
    });
}

// Returns how many of so many points along a variable read the same.
double StageView::points_between_steps(const Leaf &leaf, size_t variable, double extent) const {
    auto points = int64_t(extent);
    for (const auto &of_dimension : leaf.growths) {
        const Growth &growth = of_dimension[variable];
        if (growth.is_none()) continue;
        const bool has_steps = growth.within == 0 && knows(variable, growth.period);
        points = has_steps ? std::gcd(points, growth.period) : 1;
    }
    return double(points);
}

// ---- What code knows of a variable ----

// Returns how many of its values stand side by side in the innermost body that is left in the code.
int64_t StageView::extent_in_body(size_t variable) const {
    const auto inner = inner_variables.find(int(variable));
    return inner == inner_variables.end() ? 1 : int64_t(inner->second);
}

// The region of the variable begins at a multiple of so many; 0: at a place that is known.
int64_t StageView::known_multiple(size_t variable) const {
    if (variable >= node.pure) return 0;
    const std::vector<int64_t> &multiple = tree.functions[size_t(node.function)].multiple;
    return multiple.empty() ? 1 : multiple[node.dimensions[variable]];
}

// Returns true if each piece of the code is for one value, or one vector of values, modulo the
// period (0: of all).
bool StageView::knows(size_t variable, int64_t period) const {
    const int64_t inner = extent_in_body(variable), multiple = known_multiple(variable);
    if (period == 0)
        return multiple == 0 && variable < node.pure && inner >= placed.spans[variable].extent();
    return inner % period == 0 && multiple % period == 0;
}

// Returns the growth from one lane to the next; not a number where code does not know where
// quotients step.
double StageView::growth_in_lanes(const Growth &growth) const {
    if (growth.period == 1) return growth.mean;
    const auto v = size_t(vector_variable);
    const int64_t inner = extent_in_body(v), multiple = known_multiple(v);
    const auto in_vector = int64_t(lanes);
    const bool steps_between = growth.period % in_vector == 0 && multiple % in_vector == 0 &&
                               (growth.period % inner == 0 || inner % growth.period == 0);
    if (steps_between) return growth.within;
    return knows(v, growth.period) ? growth.mean : Growth::unknown;
}

double StageView::vectors_per_row() const {
    const double row = double(placed.spans[size_t(vector_variable)].extent());
    return std::max(1.0, row / lanes);
}

double StageView::part_of_lanes_used() const {
    if (vector_variable < 0) return 1;
    const double row = double(placed.spans[size_t(vector_variable)].extent());
    return row / (std::ceil(row / lanes) * lanes);
}

bool StageView::is_scan() const {
    std::vector<Span> point = placed.spans;
    for (Span &s : point) s.max = s.min;
    return std::ranges::any_of(node.accesses, [&](const Access &a) {
        if (a.source.function != node.function) return false;
        for (size_t d = 0; d < a.index.size(); d++) {
            if (a.index[d].run(point) != node.writes[d].run(point)) return true;
        }
        return false;
    });
}

double StageView::stride(const Growths &growths, int f) const {
    const size_t innermost = innermost_of(f);
    if (innermost >= growths.size() || vector_variable < 0) return 1;
    if (differs_in_dot(growths) && !lies_together_in_dot(growths, f)) return dot_lanes;
    return std::abs(growth_in_lanes(growths[innermost][size_t(vector_variable)]));
}

bool StageView::differs_in_dot(const Growths &growths) const {
    return dot_variable >= 0 && std::ranges::any_of(growths, [&](const auto &of_dimension) {
               return !of_dimension[size_t(dot_variable)].is_none();
           });
}

bool StageView::lies_together_in_dot(const Growths &growths, int f) const {
    for (size_t d = 0; d < growths.size(); d++) {
        const Growth &growth = growths[d][size_t(dot_variable)];
        if (d == innermost_of(f) ? !(growth == Growth::linear(1)) : !growth.is_none()) return false;
    }
    return true;
}

AccessPattern StageView::pattern_in_dot(const Growths &growths, const Source &source, int element,
                                        bool is_same, bool is_in_row) const {
    const int f = source.function;
    const bool is_together = lies_together_in_dot(growths, f);
    if (is_same) return is_together ? AccessPattern::Same : AccessPattern::Strided;
    if (is_together) {
        const bool is_dense =
            double(lane_distance(growths, source, element)) == dot_lanes * element;
        return is_dense ? AccessPattern::Dense : AccessPattern::Gathered;
    }
    const bool is_row =
        is_in_row && growth_in_lanes(growths[innermost_of(f)][size_t(vector_variable)]) == 1;
    return is_row ? AccessPattern::Strided : AccessPattern::Gathered;
}

AccessPattern StageView::pattern(const Growths &growths, const Source &source, int element) const {
    const int f = source.function;
    if (lanes <= 1 || vector_variable < 0) return AccessPattern::Dense;
    bool is_same = true, is_in_row = true;
    for (size_t d = 0; d < growths.size(); d++) {
        // False where it is not a number.
        if (growth_in_lanes(growths[d][size_t(vector_variable)]) == 0) continue;
        is_same = false;
        if (d != innermost_of(f)) is_in_row = false;
    }
    if (differs_in_dot(growths))
        return pattern_in_dot(growths, source, element, is_same, is_in_row);
    if (is_same) return AccessPattern::Same;
    const double step = stride(growths, f);
    if (is_in_row && step <= 1) return AccessPattern::Dense;
    return is_in_row && step <= 4 ? AccessPattern::Strided : AccessPattern::Gathered;
}

Growths StageView::write_growths(bool &is_known) const {
    Growths growths;
    is_known = true;
    for (const IndexProgram &w : node.writes) {
        std::vector<Growth> of;
        for (size_t v = 0; v < node.variables.size(); v++) of.push_back(w.growth(v));
        growths.push_back(std::move(of));
        is_known &= !w.reads_data();
    }
    return growths;
}

double StageView::points_stored_together(const Growths &writes) const {
    auto depends = [&](int v) {
        return std::ranges::any_of(writes,
                                   [&](const auto &of) { return !of[size_t(v)].is_none(); });
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
        // Elements that are written are read before, and go out again.
        const bool is_own = leaf.source.function == node.function;
        const double times = cache > 0 && is_own && !tree.schedule(stage)->stream_stores ? 2 : 1;
        bytes += times * bytes_in(touched_in(leaf, l), leaf.bytes,
                                  innermost_of(leaf.source.function), whole_row(leaf.source));
    }
    return bytes;
}

double StageView::room(int l) const {
    double bytes = 0;
    for (const Leaf &leaf : touched) {
        bytes += room_in(touched_in(leaf, l), stored_box(leaf.source), leaf.bytes,
                         innermost_of(leaf.source.function));
    }
    return bytes;
}

Box StageView::touched_in(const Leaf &leaf, int l) const {
    const bool is_own = leaf.source.function == node.function;
    return is_own ? written_in(l) : read_in(leaf.source, l);
}

const Box &StageView::stored_box(const Source &source) const {
    return source.image >= 0 ? graph.images[size_t(source.image)].box
                             : tree.functions[size_t(source.function)].stored;
}

int64_t StageView::whole_row(const Source &source) const {
    const Box &all = stored_box(source);
    return all.empty() ? 0 : all[innermost_of(source.function)].extent();
}

int64_t StageView::lane_distance(const Growths &growths, const Source &source, int element) const {
    const Box &all = stored_box(source);
    const size_t innermost = innermost_of(source.function);
    if (vector_variable < 0 || all.empty() || growths.size() != all.size()) return 0;
    double distance = 0, stride = element;
    auto add = [&](size_t d) {
        distance += growths[d][size_t(vector_variable)].mean * stride;
        stride *= double(all[d].extent());
    };
    add(innermost);
    for (size_t d = 0; d < all.size(); d++) {
        if (d != innermost) add(d);
    }
    constexpr double most = 1e15;
    return std::abs(distance) < most ? int64_t(std::abs(distance)) : 0;  // it may be no number
}

namespace {

// Returns true if it is for a part of the function alone, such as the first row of a scan.
bool is_of_a_part(const StageNode &node) {
    if (node.number == 0 || node.is_reduction()) return false;
    return std::ranges::any_of(node.writes, [&](const IndexProgram &w) {
        for (size_t v = 0; v < node.variables.size(); v++) {
            if (!w.growth(v).is_none()) return false;
        }
        return true;
    });
}

}  // namespace

// Returns what one iteration of a loop writes: in the loops of others, what these need of it.
Box StageView::written_in(int l) const {
    const Box &all = tree.box({.function = node.function}, l);
    if (std::ranges::count(placed.loops, l) == 0 && !is_of_a_part(node)) return all;
    const std::vector<Span> variables = tree.spans(stage, l);
    Box written;
    for (const IndexProgram &w : node.writes) {
        written.push_back(w.run(variables));
        written.back().intersect(function.required[written.size() - 1]);
    }
    return written;
}

// All stages of a function read no more than this one, unless it is for a part.
Box StageView::read_in(const Source &source, int l) const {
    return is_of_a_part(node) ? tree.reads_of(stage, source, l) : tree.box(source, l);
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
        if (is_of_a_part(graph.stages[size_t(other)])) continue;
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
    for (const Leaf &leaf : work->leaves) {
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

#include "autoscheduler/point_work.h"
#include <algorithm>

namespace tessera::autoscheduler {

bool Leaf::depends_on(size_t variable) const {
    return std::ranges::any_of(
        growths, [&](const auto &of_dimension) { return !of_dimension[variable].is_none(); });
}

// Adds a stage's work, and that of what is inlined into it.
class PointWork::Adding {
public:
    Adding(const Graph &graph, const std::vector<bool> &is_inlined, PointWork &to)
        : graph(graph), is_inlined(is_inlined), to(to) {}

    // `growths`: of each variable of the node with each of the stage.
    void operator()(const StageNode &node, const Growths &growths, const Parts &parts, double times,
                    uint64_t limited_before) {
        constexpr double most_operations = 3000;
        constexpr size_t most_leaves = 400;
        constexpr int most_visits = 2000;
        to.operations.add(node.operations, times);
        if (to.operations.total() > most_operations || to.leaves.size() > most_leaves ||
            ++to.visits > most_visits) {
            to.operations.of(OperationClass::Other) += 1e6;  // so that nobody wants it
            return;
        }
        add_parts(node, growths, parts, times);
        for (const Access &a : node.accesses) {
            Growths growths_there = growths_of(a, node, growths);
            Parts parts_there = with(parts, a.choices, node, growths);
            const uint64_t limited = limited_before | limits_of(a, node, growths);
            const int function = a.source.function;
            if (function >= 0 && is_inlined[size_t(function)]) {
                const int pure = graph.functions[size_t(function)].stages[0];
                share(growths_there, parts_there);
                (*this)(graph.stages[size_t(pure)], growths_there, parts_there, times, limited);
            } else {
                add_leaf({a.source, a.bytes, times, std::move(growths_there), limited,
                          std::move(parts_there)});
            }
        }
    }

private:
    // The variables of the stage along which a border cuts off what is read.
    static uint64_t limits_of(const Access &a, const StageNode &node, const Growths &growths) {
        uint64_t of_node = 0;
        for (const IndexProgram &index : a.index) {
            if (!index.is_limited()) continue;
            for (size_t v = 0; v < std::min<size_t>(64, node.variables.size()); v++) {
                if (!index.growth(v).is_none()) of_node |= uint64_t(1) << v;
            }
        }
        return variables_of(of_node, growths);
    }
    // Returns the variables of the stage that these of the node depend on.
    static uint64_t variables_of(uint64_t of_node, const Growths &growths) {
        uint64_t all = 0;
        for (size_t v = 0; v < growths.size(); v++) {
            if (v >= 64 || (of_node >> v & 1) == 0) continue;
            for (size_t o = 0; o < std::min<size_t>(64, growths[v].size()); o++) {
                if (!growths[v][o].is_none()) all |= uint64_t(1) << o;
            }
        }
        return all;
    }

    static Growths growths_of(const Access &a, const StageNode &node, const Growths &growths) {
        const size_t outer = growths.empty() ? 0 : growths[0].size();
        Growths all;
        for (const IndexProgram &index : a.index) {
            std::vector<Growth> sums(outer);
            for (size_t v = 0; v < node.variables.size(); v++) {
                const Growth &growth = index.growth(v);
                for (size_t o = 0; o < outer && !growth.is_none(); o++) {
                    if (!growths[v][o].is_none())
                        sums[o] = sums[o] + through(growth, growths[v][o]);
                }
            }
            all.push_back(std::move(sums));
        }
        return all;
    }

    void add_parts(const StageNode &node, const Growths &growths, const Parts &parts,
                   double times) {
        Operations rest = node.operations;
        for (const ChosenOperations &c : node.chosen) {
            rest.add(c.operations, -1);
            Parts of_these = with(parts, c.choices, node, growths);
            const uint64_t borders = variables_of(c.borders, growths);
            if (borders != 0) of_these.push_back({.borders = borders});
            add(of_these, c.operations, times);
        }
        add(parts, rest, times);
    }
    void add(const Parts &parts, const Operations &operations, double times) {
        if (parts.empty()) return;
        const auto same = std::ranges::find(to.of_parts, parts, &OfParts::parts);
        if (same != to.of_parts.end()) {
            same->operations.add(operations, times);
        } else {
            to.of_parts.push_back({parts, {}});
            to.of_parts.back().operations.add(operations, times);
        }
    }
    // The parts, and what is chosen by variables that are the stage's but for what is added.
    Parts with(const Parts &parts, const Choices &choices, const StageNode &node,
               const Growths &growths) const {
        Parts all = parts;
        for (const Choice &c : choices) {
            const std::vector<Growth> &of = growths[c.variable];
            const auto follows = [](const Growth &g) { return g == Growth::linear(1); };
            const auto along = std::ranges::find_if(of, follows);
            const auto others =
                std::ranges::count_if(of, [](const Growth &g) { return !g.is_none(); });
            if (along == of.end() || others != 1) continue;
            const Part part = {size_t(along - of.begin()), c.period,
                               c.part(extent_of(node, c.variable))};
            const auto same = std::ranges::find_if(all, [&](const Part &p) {
                return p.variable == part.variable && p.period == part.period && !p.is_shared;
            });
            if (same == all.end()) {
                all.push_back(part);
            } else {
                same->part = std::min(same->part, part.part);
            }
        }
        return all;
    }
    // Adds the variables on which what is inlined does not depend, as shared parts.
    static void share(const Growths &growths, Parts &parts) {
        for (size_t v = 0; !growths.empty() && v < growths[0].size(); v++) {
            const bool depends = std::ranges::any_of(
                growths, [&](const auto &of_dimension) { return !of_dimension[v].is_none(); });
            // A variable that is shared for some values only is not shared for the others.
            if (!depends && std::ranges::count(parts, v, &Part::variable) == 0)
                parts.push_back({.variable = v, .is_shared = true});
        }
    }
    int64_t extent_of(const StageNode &node, size_t variable) const {
        const FunctionNode &f = graph.functions[size_t(node.function)];
        return f.required[node.dimensions[variable]].extent();
    }

    void add_leaf(Leaf &&leaf) {
        const auto same = std::ranges::find_if(to.leaves, [&](const Leaf &l) {
            return l.source == leaf.source && l.growths == leaf.growths &&
                   l.limited == leaf.limited && l.parts == leaf.parts;
        });
        if (same != to.leaves.end()) {
            same->loads += leaf.loads;
        } else {
            to.leaves.push_back(std::move(leaf));
        }
    }

    const Graph &graph;
    const std::vector<bool> &is_inlined;
    PointWork &to;
};

PointWork::PointWork(const Graph &graph, const StageNode &node,
                     const std::vector<bool> &is_inlined) {
    Growths own(node.variables.size(), std::vector<Growth>(node.variables.size()));
    for (size_t v = 0; v < own.size(); v++) own[v][v] = Growth::linear(1);
    Adding(graph, is_inlined, *this)(node, own, {}, 1, 0);
}

std::optional<PointWork> PointWork::where(const std::function<double(const Part &)> &factor) const {
    // Loads that are shared are known by their growths.
    const auto part_of = [&](const Parts &parts, bool is_load) {
        double part = 1;
        for (const Part &p : parts) part *= is_load && p.is_shared ? 1 : factor(p);
        return part;
    };
    const bool changes = std::ranges::any_of(
        of_parts, [&](const OfParts &some) { return part_of(some.parts, false) < 1; });
    if (!changes) return std::nullopt;
    PointWork less = *this;
    for (const OfParts &some : of_parts)
        less.operations.add(some.operations, part_of(some.parts, false) - 1);
    for (Leaf &leaf : less.leaves) leaf.loads *= part_of(leaf.parts, true);
    return less;
}

}  // namespace tessera::autoscheduler

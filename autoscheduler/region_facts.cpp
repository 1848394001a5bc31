#include "autoscheduler/plan.h"
#include <algorithm>
#include <numeric>

namespace tessera::autoscheduler {

namespace {

using Numbers = std::vector<std::vector<int64_t>>;  // per function and argument

Numbers periods_of(const Graph &graph, const Plan &plan) {
    constexpr int64_t most = 16;
    Numbers all;
    for (int n = 0; n < int(graph.functions.size()); n++) {
        const FunctionNode &f = graph.functions[size_t(n)];
        std::vector<int64_t> &periods = all.emplace_back(f.periods);
        if (f.stages.empty() || !graph.has_periods) continue;
        const bool is_inlined = plan.functions[size_t(n)].place == Place::Inline;
        const auto is_computed_for_it = [&](const FunctionPlan &p) {
            return p.place == Place::Inline || (is_within(p.place) && (p.at == n || is_inlined));
        };
        const StageNode &pure = graph.stages[size_t(f.stages[0])];
        for (const Access &a : pure.accesses) {
            const int from = a.source.function;
            if (from < 0 || !is_computed_for_it(plan.functions[size_t(from)])) continue;
            const std::vector<int64_t> &its = all[size_t(from)];
            for (size_t d = 0; d < its.size(); d++) {
                if (its[d] < 2) continue;
                for (size_t v = 0; v < periods.size() && v < pure.pure; v++) {
                    if (a.index[d].slope(v) == 1) periods[v] = std::lcm(periods[v], its[d]);
                }
            }
        }
        for (int64_t &p : periods) p = p > most ? 1 : p;
    }
    return all;
}

// Finds the least extents that regions may have, consumers first.
class WholePieces {
public:
    WholePieces(const Graph &graph, const Plan &plan) : graph(graph), plan(plan) {
        for (const FunctionNode &f : graph.functions) {
            least.emplace_back(f.function->args.size(), not_asked);
            pieces.emplace_back(f.function->args.size());
        }
        for (size_t n = graph.functions.size(); n-- > 0;) {
            find_pieces(n);
            for (int s : graph.functions[n].stages) ask(n, graph.stages[size_t(s)]);
        }
    }

    std::vector<std::vector<bool>> pieces;

private:
    static constexpr int64_t not_asked = std::numeric_limits<int64_t>::max();

    // Returns the pieces that the loops of the first stage make.
    Pieces pieces_along(size_t n, size_t d) const {
        return pieces_of(plan.functions[n].stages[0], d,
                         std::max<int64_t>(1, graph.functions[n].required[d].extent()));
    }

    void find_pieces(size_t n) {
        const FunctionNode &f = graph.functions[n];
        const FunctionPlan &p = plan.functions[n];
        for (size_t d = 0; d < pieces[n].size(); d++) {
            int64_t &own = least[n][d];
            if (f.is_output) own = f.is_constant[d] ? f.required[d].extent() : not_asked;
            if (f.is_extern || graph.is_fixed[n] || p.stages.empty()) own = 1;
            if (p.place == Place::Inline) continue;
            pieces[n][d] =
                !p.stages.empty() && own != not_asked && own >= pieces_along(n, d).longest();
        }
    }

    // Returns how many points along an argument its loops ask at least of what they read.
    int64_t asked_by(size_t n, size_t d) const {
        const FunctionNode &f = graph.functions[n];
        const FunctionPlan &p = plan.functions[n];
        if (f.is_extern || graph.is_fixed[n] || p.stages.empty()) return 1;
        if (p.place == Place::Inline) return least[n][d];
        const bool is_whole = f.is_output || pieces[n][d] || f.may_be_extended(d);
        return is_whole ? pieces_along(n, d).together() : 1;
    }

    void ask(size_t n, const StageNode &stage) {
        std::vector<std::pair<int, std::vector<int64_t>>> asked;  // per function that it reads
        for (const Access &a : stage.accesses) {
            const int from = a.source.function;
            if (from < 0 || from == stage.function) continue;
            auto at = std::ranges::find(asked, from, &std::pair<int, std::vector<int64_t>>::first);
            if (at == asked.end())
                at = asked.insert(at, {from, std::vector<int64_t>(a.index.size(), 1)});
            for (size_t d = 0; d < a.index.size(); d++)
                at->second[d] = std::max(at->second[d], points_of(n, stage, a.index[d]));
        }
        for (const auto &[from, points] : asked) {
            for (size_t d = 0; d < points.size(); d++) {
                int64_t &all = least[size_t(from)][d];
                all = std::min(all, points[d]);
            }
        }
    }
    int64_t points_of(size_t n, const StageNode &stage, const IndexProgram &index) const {
        int64_t most = 1;
        if (stage.number > 0 || index.is_limited() || index.reads_data()) return most;
        for (size_t v = 0; v < stage.pure; v++) {
            const double mean = std::abs(index.growth(v).mean);
            if (!(mean > 0)) continue;  // also where it is not a number
            const int64_t points = asked_by(n, stage.dimensions[v]);
            if (points == not_asked) continue;
            most = std::max(most, int64_t(double(points - 1) * mean) + 1);
        }
        return most;
    }

    const Graph &graph;
    const Plan &plan;
    Numbers least;
};

}  // namespace

std::vector<RegionFacts> region_facts(const Graph &graph, const Plan &plan) {
    Numbers periods = periods_of(graph, plan);
    WholePieces whole(graph, plan);
    std::vector<RegionFacts> all;
    for (size_t n = 0; n < periods.size(); n++)
        all.push_back({std::move(periods[n]), std::move(whole.pieces[n])});
    return all;
}

}  // namespace tessera::autoscheduler

#include "autoscheduler/plan_json.h"
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace tessera::autoscheduler {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StagePlan, tile, block, vector, lanes, unroll, parallel,
                                   serial_tiles, rows_within_reduction, shifts, streams, dot,
                                   prefetch)

namespace {

constexpr std::string_view place_names[] = {"inline", "root", "tile", "block",
                                            "chunk",  "row",  "step"};

std::optional<Place> place_named(const std::string &name) {
    const auto found = std::ranges::find(place_names, name);
    if (found == std::end(place_names)) return std::nullopt;
    return Place(found - std::begin(place_names));
}

// Returns true if it may be a plan of the graph: what numbers in it refer to is there.
bool fits(const Plan &plan, const Graph &graph) {
    if (plan.functions.size() != graph.functions.size()) return false;
    for (size_t n = 0; n < plan.functions.size(); n++) {
        const FunctionPlan &p = plan.functions[n];
        const FunctionNode &f = graph.functions[n];
        if (p.stages.size() != f.stages.size()) return false;
        if (p.at < -1 || p.at >= int(plan.functions.size())) return false;
        if (is_within(p.place) && p.at <= int(n)) return false;
        for (size_t s = 0; s < p.stages.size(); s++) {
            if (p.stages[s].vector >= int(graph.stages[size_t(f.stages[s])].pure)) return false;
        }
    }
    return true;
}

}  // namespace

std::string to_json(const Plan &plan) {
    json functions = json::array();
    for (const FunctionPlan &f : plan.functions) {
        functions.push_back({{"place", place_names[size_t(f.place)]},
                             {"at", f.at},
                             {"innermost", f.innermost},
                             {"aligned", f.aligned},
                             {"stages", f.stages}});
    }
    return functions.dump();
}

std::optional<Plan> plan_from_json(const std::string &text, const Graph &graph) {
    try {
        Plan plan;
        for (const json &f : json::parse(text)) {
            FunctionPlan &p = plan.functions.emplace_back();
            const std::optional<Place> place = place_named(f.at("place"));
            if (!place) return std::nullopt;
            p.place = *place;
            p.at = f.at("at");
            p.innermost = f.at("innermost");
            p.aligned = f.at("aligned");
            p.stages = f.at("stages").get<std::vector<StagePlan>>();
        }
        if (fits(plan, graph)) return plan;
    } catch (const json::exception &) {
        return std::nullopt;
    }
    return std::nullopt;
}

uint64_t family_of(const Graph &graph) {
    uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    auto add = [&](uint64_t v) {
        for (int byte = 0; byte < 8; byte++)
            hash = (hash ^ ((v >> (8 * byte)) & 255)) * 1099511628211ULL;
    };
    for (const FunctionNode &f : graph.functions) {
        add(f.stages.size());
        add(uint64_t(f.bytes));
        add(f.is_output);
    }
    for (const StageNode &s : graph.stages) {
        add(uint64_t(s.function));
        add(s.pure);
        add(s.variables.size());
        for (double count : s.operations.count) add(uint64_t(count));
        for (const Access &a : s.accesses) {
            add(uint64_t(a.source.function) + 1);
            add(uint64_t(a.source.image) + 1);
            add(a.index.size());
        }
    }
    return hash;
}

}  // namespace tessera::autoscheduler

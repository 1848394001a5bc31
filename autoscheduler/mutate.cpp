#include "autoscheduler/mutate.h"
#include "autoscheduler/vector_reductions.h"
#include <algorithm>
#include <set>

namespace tessera::autoscheduler {

bool may_be_inlined(const Graph &graph, int function) {
    const FunctionNode &f = graph.functions[size_t(function)];
    return !f.is_output && !f.is_extern && !f.is_stored && !f.is_read_by_extern &&
           f.stages.size() == 1;
}

namespace {

// Stores what stages read in the order in which these go along a variable.
class StoringAlong {
public:
    StoringAlong(const Graph &graph, Plan &plan) : graph(graph), plan(plan) {}

    void operator()(const StageNode &stage, size_t variable) {
        for (const Access &a : stage.accesses) {
            const int f = a.source.function;
            if (f < 0 || f == stage.function || graph.is_fixed[size_t(f)]) continue;
            for (size_t d = 0; d < a.index.size(); d++) {
                if (a.index[d].slope(variable) != 1) continue;
                store(f, d);
                break;
            }
        }
    }

private:
    void store(int function, size_t dimension) {
        const FunctionNode &node = graph.functions[size_t(function)];
        FunctionPlan &p = plan.functions[size_t(function)];
        if (p.place != Place::Inline) {
            if (!node.is_output && !node.is_extern) p.innermost = int(dimension);
            return;
        }
        if (!seen.insert({function, dimension}).second) return;
        const StageNode &pure = graph.stages[size_t(node.stages[0])];
        const int variable = pure.variables.find(node.function->args[dimension]);
        if (variable >= 0) (*this)(pure, size_t(variable));
    }

    const Graph &graph;
    Plan &plan;
    std::set<std::pair<int, size_t>> seen;  // what is inlined
};

}  // namespace

void turn(const Graph &graph, Plan &plan, int function, size_t dimension) {
    const FunctionNode &f = graph.functions[size_t(function)];
    FunctionPlan &p = plan.functions[size_t(function)];
    if (!f.is_output) p.innermost = int(dimension);
    StoringAlong store_along(graph, plan);
    for (size_t s = 0; s < f.stages.size(); s++) {
        const StageNode &stage = graph.stages[size_t(f.stages[s])];
        const int variable = stage.variables.find(f.function->args[dimension]);
        if (variable < 0 || size_t(variable) >= stage.pure) continue;
        p.stages[s].vector = variable;
        store_along(stage, size_t(variable));
    }
}

void move_to(Plan &plan, int function, Place place, int at, const Machine &machine) {
    FunctionPlan &p = plan.functions[size_t(function)];
    p.place = place;
    p.at = at;
    const bool is_root = place == Place::Root;
    for (StagePlan &s : p.stages) {
        s.parallel = is_root && machine.cores > 1 && !s.tile.empty();
        if (!is_root) {
            std::ranges::fill(s.tile, 0);
            s.block.clear();
        }
    }
    if (place != Place::Inline) return;
    // Its loops are gone.
    for (FunctionPlan &other : plan.functions) {
        if (!is_within(other.place) || other.at != function) continue;
        other.place = Place::Root;
        other.at = -1;
    }
}

namespace {

class Mutation {
public:
    Mutation(const Graph &graph, Plan plan, const Machine &machine, std::mt19937_64 &random)
        : graph(graph), machine(machine), random(random), plan(std::move(plan)) {}

    Plan operator()() {
        const int n = any_function();
        if (n < 0) return plan;
        const bool is_inline = plan.functions[size_t(n)].place == Place::Inline;
        if (is_inline || below(3) == 0) {
            change_place(n);
        } else if (below(8) == 0) {
            change_storage(n);
        } else {
            change_loops(n);
        }
        return plan;
    }

private:
    uint64_t below(uint64_t n) { return random() % n; }
    template<typename T>
    T any_of(std::initializer_list<T> all) {
        return *(all.begin() + below(all.size()));
    }
    bool is_mine(int n) const { return !graph.is_fixed[size_t(n)]; }
    static bool may_be_extended(const FunctionNode &f) {
        for (size_t d = 0; d < f.room.size(); d++) {
            if (!f.may_be_extended(d)) return false;
        }
        return true;
    }

    int any_function() {
        std::vector<int> all;
        for (int n = 0; n < int(graph.functions.size()); n++) {
            if (is_mine(n) && !graph.functions[size_t(n)].is_extern) all.push_back(n);
        }
        return all.empty() ? -1 : all[below(all.size())];
    }

    void change_place(int n) {
        if (graph.functions[size_t(n)].is_output) return change_loops(n);
        std::vector<int> others;
        for (int other = n + 1; other < int(plan.functions.size()); other++) {
            const bool has_loops = plan.functions[size_t(other)].place != Place::Inline;
            if (has_loops && is_mine(other)) others.push_back(other);
        }
        const uint64_t choice = below(8);
        if (choice <= 1 && may_be_inlined(graph, n)) {
            move_to(plan, n, Place::Inline, -1, machine);
        } else if (choice <= 3 || others.empty()) {
            move_to(plan, n, Place::Root, -1, machine);
        } else {
            const Place place = any_of(
                {Place::Tile, Place::Block, Place::Row, Place::Row, Place::Step, Place::Chunk});
            move_to(plan, n, place, others[below(others.size())], machine);
        }
    }

    // Changes how its values lie in memory, or whether they go there at once.
    void change_storage(int n) {
        FunctionPlan &p = plan.functions[size_t(n)];
        const FunctionNode &f = graph.functions[size_t(n)];
        if (f.is_output) {
            StagePlan &last = p.stages.back();
            if (f.stages.size() == 1) last.streams = !last.streams;
        } else if (below(3) == 0 && f.function->args.size() > 1) {
            const auto dimension = size_t(below(f.function->args.size()));
            if (below(2) == 0) return turn(graph, plan, n, dimension);
            p.innermost = int(dimension);
        } else {
            p.aligned = !p.aligned;
        }
    }

    void change_loops(int n) {
        FunctionPlan &p = plan.functions[size_t(n)];
        const size_t which = below(p.stages.size());
        StagePlan &s = p.stages[which];
        const StageNode &stage = graph.stages[size_t(graph.functions[size_t(n)].stages[which])];
        const size_t variables = stage.variables.size();
        if (variables == 0) return;
        s.tile.resize(variables);
        s.unroll.resize(variables);
        if (stage.is_reduction() && below(3) == 0) return change_reduction(stage, s);
        if (stage.pure == 0) return;
        const auto v = size_t(below(stage.pure));
        const FunctionNode &f = graph.functions[size_t(n)];
        if (!may_be_extended(f) && !f.is_output && below(5) == 0) {
            s.shifts = !s.shifts;
            return;
        }
        const bool is_root = p.place == Place::Root;
        if (is_root && below(12) == 0) {
            s.prefetch = any_of<int64_t>({0, 1, 2, 4, 8});
            return;
        }
        switch (below(is_root ? 6 : 3)) {
        case 0: change_vector(n, int(v), s); break;
        case 1:
        case 2: s.unroll[v] = any_of<int64_t>({0, 0, 2, 3, 4, 4, 6, 8, 12}); break;
        case 3:
        case 4:
            if (which + 1 < p.stages.size()) break;
            if (s.tile[v] > 8 && below(4) == 0) {
                s.block.resize(stage.pure);
                s.block[v] = any_of<int64_t>({0, 4, 8, 16, 32, 64});
                break;
            }
            s.tile[v] = any_of<int64_t>({0, 4, 8, 16, 32, 64, 128, 256, 512});
            break;
        default: s.parallel = !s.parallel && machine.cores > 1;
        }
    }

    void change_vector(int n, int v, StagePlan &s) {
        const int64_t widest = std::max(1, graph.functions[size_t(n)].widest);
        s.vector = below(4) == 0 ? v : std::max(0, s.vector);
        s.lanes = std::max<int64_t>(2, machine.vector_bytes / widest) *
                  any_of<int64_t>({1, 1, 2, 4}) / any_of<int64_t>({1, 1, 1, 2});
    }

    void change_reduction(const StageNode &stage, StagePlan &s) {
        const size_t v = stage.pure + size_t(below(stage.variables.size() - stage.pure));
        const int64_t group = reduction_lanes(graph, stage, machine);
        if (group > 1 && below(4) == 0) {
            s.dot = s.dot > 1 ? 1 : group;
            return;
        }
        switch (below(3)) {
        case 0: s.rows_within_reduction = !s.rows_within_reduction; break;
        case 1: s.tile[v] = any_of<int64_t>({0, 0, 1, 1, 4, 8, 16, 32, 64, 128, 256}); break;
        default: s.unroll[v] = any_of<int64_t>({0, 0, 2, 3, 4, 5, 7, 8});
        }
    }

    const Graph &graph;
    const Machine &machine;
    std::mt19937_64 &random;
    Plan plan;
};

}  // namespace

Plan mutated(const Graph &graph, const Plan &plan, const Machine &machine,
             std::mt19937_64 &random) {
    return Mutation(graph, plan, machine, random)();
}

Plan crossed(const Plan &a, const Plan &b, std::mt19937_64 &random) {
    Plan result = a;
    for (size_t n = 0; n < result.functions.size(); n++) {
        if (random() % 2) result.functions[n] = b.functions[n];
    }
    return result;
}

}  // namespace tessera::autoscheduler

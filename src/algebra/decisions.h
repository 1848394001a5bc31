#pragma once
#include "algebra/trends.h"

namespace tessera::algebra {

// Finds how small, or large, a linear form can get; for this component only. First by the intervals
// of its atoms; then by putting in for an atom what bounds it (the operands of a min, the dividend
// of a division, the symbolic bounds of a variable, a known inequality), so that terms cancel.
class Decisions {
public:
    // `effort`: how many steps a single search may take.
    Decisions(Interner &nodes, ScopedFacts &facts, NodeInfo &info, Trends &trends, int effort)
        : nodes(nodes), facts(facts), info(info), trends(trends), effort(effort) {}

    // The largest constant found that `f` is never below; stops looking at `goal`.
    int64_t lower_bound(const LinearForm &f, int64_t goal);
    int64_t upper_bound(const LinearForm &f, int64_t goal);

    // Another expression begins: all that is decided about it may take 128 times the effort.
    void renew_allowance();
    // The results of earlier searches may be weaker than what is known now.
    void forget() { searches.clear(); }

private:
    struct Search {  // for a lower bound
        LinearForm form;
        int64_t goal = 0, found = 0;
        uint32_t scope = 0;
    };

    bool is_relational(const Expr &atom);
    bool is_hopeless(const LinearForm &f);
    int64_t lower(const LinearForm &f, int64_t goal, int depth);
    int64_t lower_with(const LinearForm &f, const LinearTerm &t, const Expr &u, int64_t goal,
                       int depth);
    int64_t lower_by(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth,
                     bool &exact);
    int64_t lower_by_call(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth,
                          bool &exact);
    int64_t lower_by_broadcast(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth);
    int64_t lower_by_division(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth);
    int64_t lower_by_variable(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth);
    int64_t lower_by_inequalities(const LinearForm &f, const LinearTerm &t, int64_t goal,
                                  int depth);

    Interner &nodes;
    ScopedFacts &facts;
    NodeInfo &info;
    Trends &trends;
    std::unordered_map<uint64_t, Search> searches;  // the last one of each hash
    const int effort;
    int budget = 0;     // steps that are left for this search
    int allowance = 0;  // and for this expression
};

}  // namespace tessera::algebra

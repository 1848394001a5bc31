#pragma once
#include "algebra/node_info.h"

namespace tessera::algebra {

// Finds how nodes and forms follow what they are made of; for this component only.
//
// A quick look at which bounds a search cannot find: where a value follows a leaf that is unbounded
// in one direction only, nothing that is put in for other parts of it can cancel that leaf.
class Trends {
public:
    Trends(Interner &nodes, LinearForms &forms, ScopedFacts &facts, NodeInfo &info)
        : nodes(nodes), forms(forms), facts(facts), info(info) {}

    Trend of(const Expr &e);
    Trend of(const LinearForm &f);
    // Returns the trend of a variable between bounds, each of which may be unknown.
    Trend between(const Interval &i, const ConstantInterval &constants, Symbol variable);
    // Return true if no search can find a lower bound, or both bounds. Quick, and may be false
    // where that is so.
    bool is_unbounded_below(const LinearForm &f);
    bool is_unbounded(const LinearForm &f);
    // The variables in it, and bits of their own for what is read from memory.
    uint64_t variables_of(const Expr &e);

private:
    struct Found {
        Trend trend;
        uint32_t scope = ScopedFacts::no_scope;
    };

    Trend compute(const Expr &e);
    Trend of_call(const Expr &e);
    Trend of_leaf(const Expr &e);
    uint64_t leaf_of(Symbol s);
    uint64_t leaf_of(const Expr &e);
    uint64_t next_leaf() { return uint64_t(1) << (leaf_count++ % 61); }

    Interner &nodes;
    LinearForms &forms;
    ScopedFacts &facts;
    NodeInfo &info;
    NodeMap<Found> found_trends;
    NodeMap<uint64_t> variable_masks;
    // A bit for each, in the order in which they are met.
    std::unordered_map<Symbol, uint64_t> symbol_leaves;
    NodeMap<uint64_t> node_leaves;
    uint32_t leaf_count = 0;
};

// Returns true if the operands of such a call bound its value.
bool is_bounded_by_operands(ir::Intrinsic op);

}  // namespace tessera::algebra

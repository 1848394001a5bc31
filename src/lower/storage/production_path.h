#pragma once
#include "lower/context.h"
#include <functional>
#include <optional>
#include <span>
#include <unordered_set>

namespace tessera::lower {

// A statement between a function's storage and its computation. A path lists them, outermost first.
struct PathEntry {
    enum class Kind { Loop, Let, Test };
    Kind kind;
    Symbol name;           // of a loop or let
    ir::Expr value;        // the let's, the test's, or the loop's min
    ir::Expr loop_extent;  // of a loop
    LoopKind loop_kind = LoopKind::Serial;

    bool is_loop() const { return kind == Kind::Loop; }
    // Returns true if its iterations come one after the other.
    bool is_in_order() const { return is_loop() && traits_of(loop_kind).is_in_order; }
};

// The values of the lets of a path, and of its loops of one iteration, in terms of its other loops
// and of what is bound outside.
class PathValues {
public:
    // The next entry, inside of those that are known.
    void add(const PathEntry &entry);
    // Forgets the entry that was added last.
    void remove_last(const PathEntry &entry);
    size_t size() const { return entries; }

    ir::Expr expand(const ir::Expr &e);
    // Returns the value that the let binds, as it is written.
    const ir::Expr &let_value(Symbol name) const { return values.at(name); }
    bool has(Symbol name) const { return values.contains(name); }

private:
    ir::Expr expanded_value(Symbol name);
    std::unordered_map<Symbol, ir::Expr> values, expanded;
    size_t entries = 0;
};

// The path to one production. It names what is around the production while that is visited.
struct ProductionPath {
    std::span<const PathEntry> entries;
    PathValues *values = nullptr;
    // The loops that are around another production, too, which may be run beside this one.
    std::unordered_set<Symbol> shared_loops;

    // The expression with the lets of the path put in: in terms of its loops and of what is bound
    // outside. A loop of one iteration counts as a let.
    ir::Expr expand(const ir::Expr &e) const { return values->expand(e); }
    // Returns true if the loop at this place is of more than one iteration, as far as is known.
    bool repeats(size_t loop) const { return !values->has(entries[loop].name); }
    // Returns true if the expression, expanded, depends on what the bounds query of an extern stage
    // finds within the loop at this place (the only lets that are still named then): nothing is
    // known of how that changes from one iteration to the next.
    bool asks_within(const ir::Expr &e, size_t loop) const;
    // Returns true if the expression, expanded, changes with the loop at this place: it names it,
    // or a loop further in that goes elsewhere from one iteration to the next.
    bool depends_on_loop(const ir::Expr &e, size_t loop) const;
    // Returns true if the expression, expanded, names a loop further in than the one at this place.
    bool names_loop_within(const ir::Expr &e, size_t loop) const;
    // Returns the value that the let of this name in the path binds.
    ir::Expr let_value(Symbol name) const { return values->let_value(name); }
};

// One place where a function is computed that is stored outside of loops around it, and of which
// the required region is known.
struct Production {
    const ir::Realize &storage;
    const ir::ProducerConsumer &computed;
    const ProductionPath &path;

    size_t dimensions() const { return computed.produced.ranges.size(); }
    const ir::ProducedRange &range(size_t d) const { return computed.produced.ranges[d]; }
};

// Calls f for each of them in the statement. The argument of f is gone when f returns.
void for_each_production(const ir::Stmt &s, const std::function<void(const Production &)> &f);

// Returns true if the function is stored further out than it is computed.
bool is_stored_outside(const program::FunctionContents &f);

// Returns the number of which the extent of a region in this dimension has to be a multiple for the
// stages to compute exactly that region; nothing if no multiple will do. 1: a dimension is computed
// just as far as it is required, which may differ from one time to the next: no loop over it is
// vectorized, or split by what does not divide all regions.
std::optional<int64_t> granularity(const program::FunctionContents &f, int d);
// Returns true if each update works on each point of this dimension by itself.
bool is_pure_in_all_stages(const program::FunctionContents &f, int d);

// Returns true if the loop at this place of the path runs what is inside of it in every iteration,
// or at least in all up to some last one.
bool runs_without_gaps(const ProductionPath &path, size_t loop);

}  // namespace tessera::lower

#pragma once
#include "lower/context.h"
#include <optional>

namespace tessera::lower {

// What stands between a function's storage and its computation, outermost first.
struct PathEntry {
    enum class Kind { Loop, Let, Test };
    Kind kind;
    Symbol name;           // of a loop or let
    ir::Expr value;        // the let's, the test's, or the loop's min
    ir::Expr loop_extent;  // of a loop
    LoopKind loop_kind = LoopKind::Serial;

    bool is_loop() const { return kind == Kind::Loop; }
};

struct ProductionPath {
    std::vector<PathEntry> entries;
    int productions = 0;  // how many there are; the entries are of the first

    // The expression with the lets of the path put in: in terms of its loops and of what is bound
    // outside.
    ir::Expr expand(const ir::Expr &e) const;
    // Whether the expression, expanded, depends on what the bounds query of an extern stage finds
    // within the loop at this place (the only lets that are still named then): nothing is known of
    // how that changes from one iteration to the next.
    bool asks_within(const ir::Expr &e, size_t loop) const;
    // Whether the expression, expanded, changes with the loop at this place: it names it, or a loop
    // further in that goes elsewhere from one iteration to the next.
    bool depends_on_loop(const ir::Expr &e, size_t loop) const;
    // Whether the expression, expanded, names a loop further in than the one at this place.
    bool names_loop_within(const ir::Expr &e, size_t loop) const;
    // What the let of this name in the path binds.
    ir::Expr let_value(Symbol name) const;

private:
    void find_lets() const;
    ir::Expr expanded_let(Symbol name) const;
    // What expand() has found so far.
    mutable std::unordered_map<Symbol, ir::Expr> lets, expanded;
};

ProductionPath find_production(const ir::Stmt &body, Symbol func);

// Whether the function is stored further out than it is computed.
bool is_stored_outside(const program::FunctionContents &f);

// Whether dimension d is computed exactly as far as it is asked for, which may differ from one time
// to the next: no loop over it is vectorized, unrolled, or split by what does not divide all
// regions. And whether each update works on each point of it by itself.
bool is_computed_exactly(const program::FunctionContents &f, int d);
// What the extent of a region in this dimension has to be a multiple of for the stages to compute
// exactly that region; nothing if no multiple will do.
std::optional<int64_t> granularity(const program::FunctionContents &f, int d);
bool is_pure_in_all_stages(const program::FunctionContents &f, int d);

// Whether the loop at this place of the path runs what is inside of it in every iteration, or at
// least in all up to some last one.
bool runs_without_gaps(const ProductionPath &path, size_t loop);

}  // namespace tessera::lower

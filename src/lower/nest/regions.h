#pragma once
#include "ir/substitute.h"
#include "lower/bounds/value_bounds.h"
#include "lower/checks/coordinate_checks.h"
#include "lower/nest/callers.h"
#include "lower/nest/extern_stage.h"
#include "lower/nest/scans.h"
#include "lower/program_context.h"
#include <functional>
#include <map>
#include <tuple>
#include <unordered_set>

namespace tessera::lower {

// The part of the pipeline built so far, from the inside out.
struct BuiltPipeline {
    // The stages of each function, by function and stage: one nest, or several if the stage is
    // specialized.
    std::unordered_map<Symbol, std::vector<std::vector<StageNestRef>>> stages;
    // The region that each stage of a function computes, in terms of the variables where it is
    // computed; one for each place where it is.
    std::unordered_map<Symbol, std::vector<std::vector<StageRegion>>> regions;
    // The names of the ends of the regions where a function is computed that is being built, or was
    // built last; per stage.
    std::unordered_map<Symbol, std::vector<RegionSymbols>> region_symbols;
    // The values of lets, and first and last value of loops.
    std::unordered_map<Symbol, ir::Expr> lets;
    std::unordered_map<Symbol, algebra::Interval> loops;
    // The last values that a test of a tail lets pass of a let.
    std::unordered_map<Symbol, ir::Expr> lasts;
    // The variables of reductions whose predicate leaves out some of their values, by the symbol
    // that each has in its stage.
    struct Predicated {
        StageNestRef nest;
        Symbol var;  // as the user calls it
    };
    std::unordered_map<Symbol, Predicated> predicated;
    // Says where a sliding window may let a region begin later than its let says, by the symbol of
    // its first point: as late as so many points after its last one. One leaves nothing.
    struct Sliding {
        Symbol last;
        int beyond = 1;
    };
    std::unordered_map<Symbol, Sliding> sliding;
    // Functions of whose values the bounds of an index are made: they are computed wherever they
    // are read, as what is not computed might lead out of a buffer.
    std::unordered_set<Symbol> index_sources;
    // The innermost loop of a stage in which functions are computed, whatever the stage's predicate
    // says of the iteration.
    std::unordered_map<const StageNest *, InsertionPoint> innermost_insertion_points;
    // The same of functions that are stored further out.
    std::unordered_map<const StageNest *, InsertionPoint> innermost_kept;
};

// Bounds inference at one insertion point: which regions of functions and images one run of the
// insertion point's body needs. Found from consumers to producers, in terms of the variables bound
// around the insertion point and of the lets that are collected on the way.
class RegionInference {
public:
    RegionInference(InsertionPoint insertion_point, const Callers &callers,
                    const BuiltPipeline &built, const ValueBounds &values,
                    const ProgramContext &context)
        : insertion_point(insertion_point), callers(callers), built(built), values(values),
          context(context) {}

    // Binds the region symbols of every stage of a function that is computed at this insertion
    // point, and returns the regions, in terms of these symbols.
    std::vector<StageRegion> bind_computed(Symbol func);
    // The elements that a function's stages write and read here, for its storage.
    Box touched(Symbol func);
    // Returns the box that the stages in the body read of a function or image, but for the
    // function's own.
    Box required(Symbol callee, int dimensions) { return required(callee, dimensions, Reads::All); }
    // Returns the box that the stage which owns the insertion point writes of its function.
    Box written(const StageNestRef &owner);

    // Adds to the asserts that what is stored further out holds what the extern stages that are
    // computed here want to read: queried there for the whole, they may have wanted less.
    void check_answers(const std::function<bool(Symbol)> &is_stored_here);

    // Returns the region that the extern stage which owns the insertion point computes in one run
    // of it, in terms of lets. In a call of its function, at the innermost insertion point, a
    // bounds query asks what it reads for that.
    const StageRegion &piece();
    const ExternQuery &ask_for_piece();

    // In an order in which each uses only earlier ones.
    std::vector<Binding> lets;
    // Conditions that the user promised with bound(), and that bounds queries succeed; to be
    // tested inside of the lets.
    std::vector<ir::Stmt> asserts;
    // The lets that a sliding window may move, for BuiltPipeline.
    std::unordered_map<Symbol, BuiltPipeline::Sliding> sliding;

private:
    // A select reads both of its values, and chooses one. All that may be chosen is computed; all
    // that is read is stored, also where nothing has been computed.
    enum class Reads { All, Chosen };
    const std::vector<StageRegion> &stage_regions(Symbol func);
    // The same, had the functions to be computed wherever they are read.
    const std::vector<StageRegion> &whole_regions(Symbol func);
    Box required(Symbol callee, int dimensions, Reads reads);
    Reads wanted_of(Symbol func) const;
    // Returns the part of what a call reads in dimension d that a select leaves, if that is less.
    algebra::Interval chosen_part(const StageCall &call, size_t d, const Caller &caller,
                                  const algebra::Interval &all);
    bool needs_constant_extents(Symbol func) const;
    std::vector<StageRegion> find_stage_regions(Symbol func, bool computed_here);
    Box needed_of(const program::FunctionContents &func);
    void apply_bounds(const program::FunctionContents &func, Box &box, bool computed_here);
    bool follows_insertion_point(const algebra::Interval &i);
    void warn_of_repetition(const program::FunctionContents &f, Symbol var,
                            const Location &at) const;
    algebra::Interval covered_further_in(Symbol func, int d);
    void cover_further_in(Symbol func, Box &box);
    bool is_rounded_further_in(Symbol func);
    bool is_known_here(const ir::Expr &e) const;
    ir::Expr fixed_value(const ir::Expr &e) const;
    StageRegion bind(const program::FunctionContents &func, int stage, const Box &box,
                     bool computed_here);
    ir::Expr bind(Symbol symbol, const ir::Expr &value);
    std::optional<int> loops_within_storage(const program::FunctionContents &f) const;
    ir::Expr let_value(Symbol name) const;
    bool stands_still(const ir::Expr &e, int within) const;
    bool stands_still(const ir::Variable &v, int within) const;
    ir::Expr without_lets(const ir::Expr &e) const;
    bool advances(const ir::Expr &end, int within) const;
    void note_sliding(const program::FunctionContents &f, int d, Symbol first, Symbol last,
                      const algebra::Interval &ends);
    void check_coordinate(Symbol symbol, const ir::Expr &end);
    // Returns the ranges of the caller's variables, narrowed by what has been tested.
    const algebra::IntervalScope &scope_of(const Caller &caller, const ir::Expr &tested,
                                           Reads reads);
    // The values of the caller's variables that a condition leaves, whatever else is known of them.
    struct Choice {
        algebra::IntervalScope scope;  // narrowed to these
        algebra::IntervalScope left, any;
    };
    const Choice &choice_of(const StageCall &call, const Caller &caller);
    ir::Expr latest_run(const StageNest &nest, int d, const StageRegion &region);
    // Returns how far a stage computes, per dimension, when the region is required here.
    std::vector<ir::Expr> rounded_max(const StageNest &nest, const StageRegion &region);
    // The values that something bound further in has, in terms of what is bound here.
    const algebra::Interval *inner_values(Symbol symbol);
    algebra::Interval left_by_predicate(const BuiltPipeline::Predicated &variable);
    algebra::IntervalScope inner_scope(const ir::Expr &e);
    // Symbols of a kind, and what is known so far of those that are computed from them.
    struct Origins {
        std::function<bool(Symbol)> includes;
        std::unordered_map<Symbol, bool> known;
    };
    // Returns true if e is computed, through lets, from a symbol of that kind.
    bool follows(const ir::Expr &e, Origins &origins);
    // Returns true if e may be another value in another iteration of a loop, or if that is not
    // known: a loop of one iteration moves nothing.
    bool moves(const ir::Expr &e);
    bool moves(Symbol variable);
    // Returns the ends of the stage's region in the dimensions of which `bound` says all.
    ir::Substitution bounded_region(const StageNest &nest) const;
    // Returns the number of points that a region further in has at most; nothing if that is not
    // known.
    std::optional<int64_t> most_points(const algebra::Interval &ends) const;
    // Returns where a stage that is computed further in ends at the latest if its region is
    // `there`.
    ir::Expr latest_end(const StageNest &nest, int d, const StageRegion &there,
                        const StageRegion &here);
    // The scope of a stage's variables, narrowed by what of its predicate has been tested, and with
    // what is known of functions' values.
    algebra::IntervalScope complete(algebra::IntervalScope scope, const StageNest &nest,
                                    const ir::Expr &tested) const;
    // The interval with lets in place of ends that are not small.
    algebra::Interval named_if_deep(Symbol var, algebra::Interval i);
    algebra::Interval call_interval(const StageCall &call, size_t d,
                                    const algebra::IntervalScope &scope,
                                    const StageNest &caller) const;
    Box call_box(const StageCall &call, const algebra::IntervalScope &scope,
                 const StageNest &caller) const;
    // All that the caller reads of the callee; empty if it is nothing.
    Box box_of_calls(Symbol callee, int dimensions, const Caller &caller, Reads reads);
    const ExternQuery &query_of(const program::FunctionContents &extern_func);
    Box held_of_input(const program::ExternFuncArgument &input) const;
    StageRegion asked_of(const program::FunctionContents &extern_func);
    bool is_piece_of(const program::FunctionContents &f) const;
    Box enlarged(const program::FunctionContents &extern_func, const Box &needed);
    static void include_beginning_of_scans(const program::FunctionContents &f, Box &box);
    void include_own_reads(Symbol func, int stage, const StageRegion &region, Box &box);

    InsertionPoint insertion_point;
    const Callers &callers;
    const BuiltPipeline &built;
    const ValueBounds &values;
    const ProgramContext &context;
    std::unordered_map<Symbol, std::vector<StageRegion>> regions;  // by function; per stage
    std::map<std::tuple<const StageNest *, const ir::ExprNode *, Reads>, algebra::IntervalScope>
        scopes;
    std::map<std::tuple<const StageNest *, const ir::ExprNode *, const ir::ExprNode *>, Choice>
        choices;  // by what has been tested and what is chosen
    std::unordered_map<Symbol, std::vector<StageRegion>> whole;  // of those that are narrowed
    std::unordered_set<Symbol> narrowed;  // functions that are not computed wherever they are read
    std::unordered_map<Symbol, ExternQuery> queries;
    std::optional<StageRegion> bound_piece;
    std::unordered_set<Symbol> is_computed_here;
    std::unordered_map<Symbol, algebra::Interval> inner;
    std::unordered_map<Symbol, ir::Expr> let_values;
    ir::Substitution fixed;                   // the lets that depend on parameters at most
    std::unordered_map<Symbol, bool> moving;  // of variables: true if they move
    Origins sliding_ends{[this](Symbol s) { return built.sliding.contains(s); }, {}};
};

}  // namespace tessera::lower

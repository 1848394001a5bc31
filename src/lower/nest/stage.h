#pragma once
#include "algebra/bounds.h"
#include "lower/nest/region.h"
#include "program/function.h"
#include "program/transform_model.h"
#include <memory>

namespace tessera::lower {

// A call of a function or image in a stage's definition, in the user's variables.
struct StageCall {
    Symbol callee;
    std::vector<ir::Expr> args;
    ir::Expr tested;  // what holds wherever it is read; undefined: nothing is tested
    // Selects choose its value only where this holds, though they read it elsewhere, too;
    // undefined: always.
    ir::Expr chosen = {};
};

// One stage of a function in one place of the pipeline, with one of its schedules: its loops under
// symbols of their own, and how the user's variables follow from them.
class StageNest {
public:
    struct Loop {
        Symbol var;     // as the user calls it
        Symbol symbol;  // in the IR
        ir::Expr min, extent;
        LoopKind kind = LoopKind::Serial;
        Partition partition = Partition::Auto;
        bool in_call = false;  // of an extern stage, not in the IR: a call runs all of it
    };
    // A let or a test that belongs directly inside of loop `depth` (0: innermost), or outside of
    // all loops (depth == loops.size()).
    struct Let {
        Symbol symbol;
        ir::Expr value;
        int depth = 0;
        ir::Expr last;  // a test lets no greater value pass; undefined: there is none
    };
    struct Test {
        ir::Expr condition;
        int depth = 0;
        bool innermost = false;  // it reads functions: directly around the definition
        bool of_tail = false;    // that a let is not greater than its `last`
    };

    // A fused loop, and how many iterations it has, as int64: more than 2^31 - 1 are too many. Over
    // pure variables only, these are elements of one storage.
    struct FusedLoop {
        Symbol var;
        ir::Expr iterations;
        bool of_reduction = false;
    };

    // `region_min`, `region_max`: the bounds to compute, one of each per dimension of the function.
    StageNest(const program::FunctionContents &func, int stage, const program::Definition &def,
              const std::vector<ir::Expr> &region_min, const std::vector<ir::Expr> &region_max);

    const program::FunctionContents &func;
    const int stage;
    const program::Definition &definition;
    ir::Expr condition = ir::const_true();  // it runs only if this holds

    std::vector<Loop> loops;  // innermost first
    std::vector<Let> lets;    // in an order in which each uses only earlier ones
    std::vector<Test> tests;
    std::vector<FusedLoop> fused_loops;
    std::vector<StageCall> calls;

    // Returns how many loops, the innermost ones, one call of an extern stage runs: none in other
    // stages.
    int loops_in_call() const;
    // For an extern stage, returns true if its function is called within loops, for a piece each
    // time.
    bool is_in_pieces() const;
    // The condition that a call of its function computes anything, where a tail may have left
    // nothing to it; undefined: it always does.
    ir::Expr piece_exists() const;

    // Returns the place of the loop over this variable (by the user's name), or -1.
    int find_loop(Symbol var) const;
    // An expression in the user's variables, in terms of the symbols of this nest.
    ir::Expr in_symbols(const ir::Expr &e) const;
    // The definition's values, after what the tails of its splits make of them (a blend).
    std::vector<ir::Expr> values() const;
    std::vector<ir::Expr> args() const;

    // The interval that each of the user's variables runs over while loop `fixed` and those around
    // it stand still (loops.size(): none stands still).
    algebra::IntervalScope box(int fixed) const;
    // Returns true if such an interval is that of a fixed variable.
    bool is_fixed(const algebra::Interval &i) const;
    // Returns true if it is another one in other iterations of the loops that stand still.
    bool moves(const algebra::Interval &i) const;
    // The same for the whole stage, given the first and last point of its pure variables.
    algebra::IntervalScope box_over(const std::vector<ir::Expr> &region_min,
                                    const std::vector<ir::Expr> &last) const;

    // The last point that is computed in dimension d of a region: beyond its max where a split
    // rounds up. And whether that ever differs from max.
    ir::Expr rounded_max(int d, const StageRegion &region) const;
    bool rounds(int d) const;
    // Returns how much further than to the max of a region that is not empty it goes at most.
    ir::Expr most_beyond_max(int d) const;
    // Return true if each loop is split at most once, and no tile is moved back.
    bool rounds_simply() const;
    // Returns true if it is a fused loop that is rounded: how far its variables go beyond their
    // ends depends on remainders of the whole region, and is not known better of a larger region.
    bool rounds_fused() const;
    // Return true if loops are fused.
    bool fuses() const { return !fused_loops.empty(); }

private:
    bool binds(const Symbol &symbol) const;
    // A variable at some point of the schedule. A split may give its result the name of the
    // variable that it splits, so variables are distinguished by their index in `variables`.
    struct Variable {
        Symbol symbol;
        ir::Expr min, max;   // the whole range
        int made_from = -1;  // the transform that makes it from others; -1: it is a loop, or given
        int loop = -1;
        int64_t multiple = 1;  // whatever the region, the extent is a multiple of it
        bool of_reduction = false;
    };
    // A transform, with the indices of the variables it names.
    struct Transform {
        std::unique_ptr<const program::TransformModel> model;
        std::vector<int> taken, made;  // innermost first
        bool divides;  // what it makes covers what it takes, if it does not itself run further
    };

    void add_original(Symbol var, ir::Expr min, ir::Expr max);
    void add_pure_variables(const std::vector<ir::Expr> &min, const std::vector<ir::Expr> &max);
    void add_reduction(const std::vector<ir::Expr> &min, const std::vector<ir::Expr> &max);
    int add(Symbol var, const algebra::Interval &range);
    int current(Symbol var) const;
    program::LoopTransform within_region(const program::LoopTransform &transform) const;
    void apply(const program::LoopTransform &written);
    void add_made(Transform &transform);
    void add_fused(const Transform &transform);
    const Transform &maker_of(int var) const {
        return transforms[size_t(variables[size_t(var)].made_from)];
    }
    algebra::Interval range(int var) const;
    std::vector<algebra::Interval> ranges(const std::vector<int> &vars) const;
    program::LoopFacts facts(int var) const;
    void make_loops();
    void make_lets_and_tests();
    void add_predicate_tests();
    int depth(int var) const;      // the innermost loop it depends on
    int outermost(int var) const;  // the outermost one
    int depth_of(const ir::Expr &e) const;
    ir::Expr symbol_of(int var) const;
    std::vector<ir::Expr> symbols_of(const std::vector<int> &vars) const;
    ir::Expr value_of(int var) const;
    void add_let(int var);
    ir::Expr is_written(const Transform &transform) const;
    algebra::Interval interval(int var, int fixed) const;
    bool is_exact(const Transform &transform) const;
    bool grows(int var) const;
    StageRegion own_region() const;
    algebra::Interval range_in(const StageRegion &region, int var) const;
    ir::Expr most_beyond(int var) const;
    ir::Expr computed_max(const StageRegion &region, int var, const algebra::Interval &over) const;

    std::vector<Variable> variables;
    std::vector<Transform> transforms;
    std::unordered_map<Symbol, int> originals;  // the variables that the definition is written in
    std::unordered_map<Symbol, int> scanned;    // the dimensions along which variables are scans
    std::unordered_map<Symbol, int> names;      // as the schedule has named them so far
};

using StageNestRef = std::shared_ptr<const StageNest>;

// Returns the divisor of the extent of each region of the function in dimension d that is computed,
// also where it begins later because others have computed its beginning: the modulus of
// align_bounds; 1 if there is none, or more that says what is computed.
int64_t aligned_extent(const program::FunctionContents &func, int d);

// The calls in a definition: its values, arguments, and predicate.
std::vector<StageCall> calls_of(const program::Definition &def);

// Returns true if the definition itself is a version of its stage: it is none if specialize_fail()
// stands in its place, unless it is the only one.
bool may_run_itself(const program::Definition &general);

// Returns when each version of a stage may run: if the conditions of the specializations that
// choose it hold. In the order of versions_of.
std::vector<ir::Expr> conditions_of(const program::Definition &general);

// The versions of a stage: those that its specializations, and theirs, choose, in the order in
// which they are tried (those that fail have none); the general one last.
std::vector<const program::Definition *> versions_of(const program::Definition &general);

}  // namespace tessera::lower

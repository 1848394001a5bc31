#pragma once
#include "autoscheduler/graph.h"
#include "program/steps.h"
#include <algorithm>
#include <span>

namespace tessera::autoscheduler {

// The loops of a stage:
//
//     for y tiles, x tiles: [others are computed here: Place::Tile]
//       for y blocks, x blocks of the tile: [or here: Place::Block]
//         for tiles of the reduction: [or here: Place::Chunk]
//           for y in the block: [or here: Place::Row]
//             for x in the block, in steps of a vector:
//               for the reduction in its tile: [or here: Place::Step]
//                 unrolled reduction, unrolled y and x, vector of x, group of a dot product
//
// Ansor's structure of tiles, SSRSRS, with the innermost S in registers.
struct StagePlan {
    std::vector<int64_t>
        tile;  // per variable, those of the reduction behind the pure ones; 0: none
    std::vector<int64_t> block;  // per pure variable, tiles within its tile; 0: none
    int vector = -1;             // the pure variable that is vectorized; -1: none
    int64_t lanes = 1;
    std::vector<int64_t> unroll;  // per variable: how many points are computed together; 0: one
    bool parallel = false;        // the outermost loops, until there are enough tasks
    // Tiles come one after the other, each with all cores: the loops over its blocks are parallel,
    // and those of what is computed for a tile may be.
    bool serial_tiles = false;
    bool rows_within_reduction = false;  // each step of the reduction takes whole rows
    // If more of it than is needed cannot be computed (FunctionNode::may_be_extended()), pieces
    // that do not divide a row are moved back into it, and not cut off by a guard. That is faster,
    // but refused at run time if a row is shorter than a piece.
    bool shifts = false;
    bool streams = false;  // stores past the caches: nobody reads it soon
    // Lanes of the first variable of the reduction that are added to one sum (reduction_lanes()):
    // what an instruction for dot products takes, or partial results; 1: none.
    int64_t dot = 1;
    int64_t prefetch = 0;  // what it reads is fetched so many rows ahead

    friend bool operator==(const StagePlan &, const StagePlan &) = default;
};

// The place where a function is computed.
enum class Place : uint8_t {
    Inline,
    Root,
    Tile,   // for each tile of another's last stage
    Block,  // for each block of its tiles
    Chunk,  // for each tile of that stage's reduction
    Row,    // for each row of a tile, which keeps what the rows share
    Step,   // for each iteration of the innermost loop
};
// Returns true if it is in the loops of another function.
constexpr bool is_within(Place p) { return p != Place::Inline && p != Place::Root; }

struct FunctionPlan {
    Place place = Place::Root;
    int at = -1;           // the other function, if the place is in its loops
    int innermost = -1;    // the dimension whose values lie side by side in memory; -1: the first
    bool aligned = false;  // each row begins where a vector does
    std::vector<StagePlan> stages;

    friend bool operator==(const FunctionPlan &, const FunctionPlan &) = default;
};

// The decisions that make a schedule.
struct Plan {
    std::vector<FunctionPlan> functions;  // as the graph's
    friend bool operator==(const Plan &, const Plan &) = default;
};

// Returns true if pieces are moved back into rows (StagePlan::shifts): sizes other than those that
// are estimated may then be refused when the pipeline runs.
bool may_refuse_sizes(const Plan &plan);

// The loop of a pure variable as a plan splits it.
struct Pieces {
    int64_t tile = 0, block = 0;  // 0: none
    int64_t lanes = 1, unroll = 1;

    int64_t together() const { return lanes * unroll; }
    // The longest piece that is moved or cut off where a row ends.
    int64_t longest() const { return std::max({tile, block, together()}); }
};
// `extent`: of the loop.
Pieces pieces_of(const StagePlan &plan, size_t variable, int64_t extent);

// The place of a function that is fixed, as far as it matters to others.
Place place_by_hand(const Graph &graph, int function);

// Each function at the root, one point after the other, but for those that are fixed: what
// everybody trusts to be right.
Plan plain_plan(const Graph &graph);

// Holds what follows from the plan for the region of a function, whatever the sizes of outputs are.
struct RegionFacts {
    // Per argument: the points after which its definition, with those that are inlined into it and
    // those that its loops compute for it, does the same again.
    std::vector<int64_t> periods;
    // Per argument: the region is never smaller than a piece of the loops of its first stage, as
    // its consumers ask for such pieces, too. An output refuses less.
    std::vector<bool> has_whole_piece;
    friend bool operator==(const RegionFacts &, const RegionFacts &) = default;
};
std::vector<RegionFacts> region_facts(const Graph &graph, const Plan &plan);

// Holds what the steps of one function are made from, beside the graph: those of equal decisions
// are equal.
struct FunctionDecisions {
    FunctionPlan plan;
    program::LoopLevel compute_level, store_level;
    RegionFacts facts;
    std::vector<Symbol> prefetched;  // per stage
    friend bool operator==(const FunctionDecisions &, const FunctionDecisions &) = default;
};

// The levels at which others can be computed in the loops of a function; the root, where it has no
// such loop.
struct PlaceLevels {
    program::LoopLevel tile = program::LoopLevel::root(), block = program::LoopLevel::root(),
                       chunk = program::LoopLevel::root(), row = program::LoopLevel::root(),
                       step = program::LoopLevel::root();

    const program::LoopLevel &around_rows() const;
    const program::LoopLevel &of(Place place) const;
};

// `around`: the levels of the function in whose loops it is; `facts`: its own.
FunctionDecisions decisions_of(const Graph &graph, const Plan &plan, int function,
                               const PlaceLevels &around, const RegionFacts &facts);

// Adds the steps of a function that is not inlined; returns the levels of its last stage.
PlaceLevels add_steps(const Graph &graph, int function, const FunctionDecisions &decisions,
                      int64_t tasks, std::vector<program::Step> &steps);

// The plan as steps, behind those of the user (Graph::by_hand) and those of the structure. `tasks`:
// how many a parallel loop should have at least. Functions that have a schedule of the user's are
// left out.
program::Schedule to_schedule(const Graph &graph, const Plan &plan, int64_t tasks);
// The steps of such a schedule without those of the user.
std::span<const program::Step> steps_of_plan(const Graph &graph, const program::Schedule &schedule);

}  // namespace tessera::autoscheduler

#pragma once
#include "autoscheduler/graph.h"
#include "program/steps.h"
#include <span>

namespace tessera::autoscheduler {

// The loops of a stage:
//
//     for y tiles, x tiles: [others are computed here]
//       for y in the tile: [or here]
//         for x in the tile, in steps of a vector:
//           for the reduction:
//             unrolled y, vector of x
struct StagePlan {
    std::vector<int64_t> tile;  // per pure variable; 0: none
    int vector = -1;            // the pure variable that is vectorized; -1: none
    int64_t lanes = 1;
    int unrolled = -1;  // the pure variable of which some points are computed together
    int64_t unroll = 1;
    bool parallel = false;               // the outermost loops, until there are enough tasks
    bool rows_within_reduction = false;  // each step of the reduction takes whole rows

    friend bool operator==(const StagePlan &, const StagePlan &) = default;
};

// The place where a function is computed.
enum class Place : uint8_t {
    Inline,
    Root,
    Tile,  // for each tile of another's last stage
    Row,   // for each row of a tile, which keeps what the rows share
};

struct FunctionPlan {
    Place place = Place::Root;
    int at = -1;  // of Tile and Row: the other function, which is computed at the root
    std::vector<StagePlan> stages;

    friend bool operator==(const FunctionPlan &, const FunctionPlan &) = default;
};

// The decisions that make a schedule.
struct Plan {
    std::vector<FunctionPlan> functions;  // as the graph's
    friend bool operator==(const Plan &, const Plan &) = default;
};

// Each function at the root, one point after the other: what everybody trusts to be right.
Plan plain_plan(const Graph &graph);

// The plan as steps, behind those of the user (Graph::by_hand). `tasks`: how many a parallel loop
// should have at least. Functions that `is_fixed` names are left out: they have a schedule of the
// user's.
program::Schedule to_schedule(const Graph &graph, const Plan &plan, int64_t tasks,
                              const std::vector<bool> &is_fixed = {});
// The steps of such a schedule without those of the user.
std::span<const program::Step> steps_of_plan(const Graph &graph, const program::Schedule &schedule);

}  // namespace tessera::autoscheduler

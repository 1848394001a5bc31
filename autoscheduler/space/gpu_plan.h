#pragma once
#include "autoscheduler/graph.h"
#include "autoscheduler/space/loop_writer.h"

namespace tessera::autoscheduler {

// Says what the loop over a variable of a stage becomes in a kernel:
//
//     blocks:  for block of v (gpu_blocks):
//     threads:   for thread of the block (gpu_threads):
//     points:      for point of the thread: a vector, or unrolled
//
// In the loops of another kernel there are turns in place of blocks, a loop within the thread.
struct GpuAxis {
    int64_t threads = 1;     // of a block, along the variable
    int64_t points = 1;      // neighbours that a thread has
    bool in_thread = false;  // all values are in each thread, which has no others to go to
    bool unrolls = false;    // that loop; its extent has to be a number
    friend bool operator==(const GpuAxis &, const GpuAxis &) = default;
};

struct GpuStagePlan {
    std::vector<GpuAxis> axes;    // per pure variable
    int vector = -1;              // the variable whose points are a vector; -1: none
    std::vector<int64_t> unroll;  // per variable of the reduction: so many steps; 0: one
    friend bool operator==(const GpuStagePlan &, const GpuStagePlan &) = default;
};

// The place where a function is computed.
enum class GpuPlace : uint8_t {
    Inline,
    Root,    // a kernel for each of its stages
    Block,   // for each block of another's kernel, in memory that the block shares
    Thread,  // for each thread of another's loops, in its registers
};

struct GpuFunctionPlan {
    GpuPlace place = GpuPlace::Root;
    int at = -1, at_stage = 0;  // the other function, and the number of its stage
    std::vector<GpuStagePlan> stages = {};
    friend bool operator==(const GpuFunctionPlan &, const GpuFunctionPlan &) = default;
};

// The decisions that make a schedule for a GPU.
struct GpuPlan {
    std::vector<GpuFunctionPlan> functions;  // as the graph's
    friend bool operator==(const GpuPlan &, const GpuPlan &) = default;
};

// Returns true if each point of the variable's loop may be computed by another thread: no other
// point writes what it reads or writes.
bool may_be_shared_out(const Graph &graph, const StageNode &stage, size_t variable);

// Returns the plan as steps, behind those of the user (Graph::by_hand) and those of the structure.
// Functions that have a schedule of the user's are left out.
program::Schedule to_schedule(const Graph &graph, const GpuPlan &plan);

}  // namespace tessera::autoscheduler

#pragma once
#include "autoscheduler/cost/gpu_kernel.h"
#include "autoscheduler/graph.h"
#include "autoscheduler/machine/gpu.h"
#include "autoscheduler/space/loop_writer.h"

namespace tessera::autoscheduler {

// Holds what a rule for one kind of kernel does: steps that make functions and loops, and the
// functions that are scheduled with these. All others are scheduled behind.
struct GpuStructure {
    std::string rule;  // its name, and of what: "rows by warps: softmax"
    std::vector<program::Step> steps;
    std::set<Symbol> scheduled;
    std::vector<GpuKernel> kernels;  // that it makes, where they are estimated

    bool is_empty() const { return steps.empty(); }
    void append(GpuStructure &&more);
};

// Returns a name for what a rule makes of the function, which no function of the graph has: several
// may be called alike.
Symbol name_made_of(const Graph &graph, const FunctionNode &f, const char *suffix);

// Returns true if the stage is the only update of its function, which a sum, a maximum or another
// operation makes of values in any order.
bool is_associative_update(const Graph &graph, const StageNode &stage);

// Returns how an inlined function's reads go along a variable of the stage: side by side in memory,
// with nothing that goes along it in another dimension.
bool reads_side_by_side(const Graph &graph, const StageNode &stage, size_t variable);

// Sums that are stored get a copy, for which a thread forms them in registers; where functions are
// computed is decided later, and the copy may be inlined.
//
//     f(x) += g(x, r);  h(x) = f(x - 1) + f(x)    ->    w(x) = f(x);  h(x) = w(x - 1) + w(x)
GpuStructure copies_of_sums(const Graph &graph, const GpuMachine &machine);

}  // namespace tessera::autoscheduler

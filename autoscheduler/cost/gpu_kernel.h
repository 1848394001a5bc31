#pragma once
#include "autoscheduler/machine/gpu.h"
#include "autoscheduler/point_work.h"
#include "autoscheduler/space/gpu_plan.h"
#include <algorithm>
#include <string>
#include <string_view>

namespace tessera::autoscheduler {

// Describes the kernel of one stage at the root, with all that a plan computes in its loops,
// before anything is lowered.
struct GpuKernel {
    std::string name;  // of what it computes
    int stage = 0;     // of the graph
    double blocks = 1;
    int threads = 1;             // of a block: the most that any stage in it has
    double lane_operations = 0;  // instructions of single lanes, of all blocks
    double of_thread = 0;        // instructions of one thread
    double shared_bytes = 0;     // of a block
    double held = 0;             // values of 32 bits that a thread keeps in registers
    static constexpr double most_held = 96;
    // Data choose among values that a thread computes for itself: registers have no addresses.
    bool has_addressed_values = false;
    double bytes_from_memory = 0, bytes_from_cache = 0;  // of all blocks: read and written
    int parts = 1;  // stages that blocks compute, with barriers between them

    // The time goes to instructions, each of which waits for a pipe; to one thread, whose
    // instructions wait for one another; and to bytes.
    struct Times {
        double launch = 0, instructions = 0, one_thread = 0, memory = 0;
        double all() const { return launch + std::max({instructions, one_thread, memory}); }
        std::string_view bound() const;  // the longest of these, in a word
    };
    Times times(const GpuMachine &machine) const;
    double microseconds(const GpuMachine &machine) const { return times(machine).all(); }
    int registers() const;  // of a thread, as ptxas may count them
    // Returns the part of a multiprocessor's warps that run at once.
    double occupancy(const GpuMachine &machine) const;
    // Returns why it cannot be launched, or an empty text.
    std::string why_illegal(const GpuMachine &machine) const;
};

// Counts what the kernels of plans do, from boxes that tiles need: microseconds a kernel.
class GpuKernels {
public:
    GpuKernels(const Graph &graph, const GpuMachine &machine) : graph(graph), machine(machine) {}

    // Returns what the kernel of a stage of a function at the root does.
    GpuKernel kernel_of(const GpuPlan &plan, const StageNode &stage);
    // Returns the kernels of a plan.
    std::vector<GpuKernel> kernels_of(const GpuPlan &plan);
    // Returns the estimated time of the whole plan; infinite if a kernel cannot be launched.
    double microseconds(const GpuPlan &plan);

    // Returns the work of a point, with all that is inlined.
    PointWorkRef work_of(const GpuPlan &plan, const StageNode &stage);

    const Graph &graph;
    const GpuMachine &machine;

private:
    std::map<std::pair<int, std::vector<bool>>, PointWorkRef> works;
};

// Boxes of functions and images that are needed for given values of a stage's variables: those of
// what is inlined, or computed in its loops, and of what these read in turn.
struct NeededBoxes {
    std::vector<Box> functions, images;  // empty: nothing is needed

    const Box &of(const Source &s) const {
        return s.function >= 0 ? functions[size_t(s.function)] : images[size_t(s.image)];
    }
};
// `passes`: says of a function whether what it reads is counted, too.
NeededBoxes boxes_needed(const Graph &graph, const StageNode &stage, std::span<const Span> spans,
                         const std::function<bool(int function)> &passes);

// Returns the values of a stage's variables in a block, and in a thread, of its loops: in the
// middle, where no border of an image is near.
std::vector<Span> tile_of_block(const Graph &graph, const StageNode &stage,
                                const GpuStagePlan &loops);
std::vector<Span> tile_of_thread(const Graph &graph, const StageNode &stage,
                                 const GpuStagePlan &loops);

// Say for boxes_needed() what is computed by a block, and by a thread, for itself.
std::function<bool(int)> computed_by_block(const Graph &graph, const GpuPlan &plan);
std::function<bool(int)> computed_by_thread(const Graph &graph, const GpuPlan &plan);

}  // namespace tessera::autoscheduler

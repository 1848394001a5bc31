#pragma once
#include "base/target.h"
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// GPUs as data: who runs in parallel at each level of one, what there is room for, and how fast it
// is. Limits are exact, as they decide what can be launched; rates are what programs have measured.
namespace tessera::autoscheduler {

// The levels at which a kernel's work is shared out, from the whole card to one instruction.
enum class GpuLevel : uint8_t { Device, Cluster, Block, Warp, Lane, Register };

// The most that GPUs of one compute capability have room for.
struct GpuLimits {
    int capability = 0;                   // as in 90 for 9.0
    int threads = 0;                      // of a multiprocessor at once
    int blocks = 0;                       // of a multiprocessor at once
    int l1_bytes = 0;                     // the first cache and the memory of blocks together
    int shared_bytes = 0;                 // of a multiprocessor, for the memory of its blocks
    int shared_granule = 0;               // bytes by which that is given out
    int reserved_shared = 0;              // bytes that the system takes of each block
    int cluster = 1;                      // blocks of a cluster, on every card
    std::array<int, 10> carve_outs = {};  // kilobytes that shared memory may be given

    static constexpr int registers = 65536;  // of a multiprocessor, 32 bits each
    static constexpr int registers_of_thread = 255;
    static constexpr int register_granule = 256;  // of a warp
    static constexpr int schedulers = 4;          // each has a part of the registers
    static constexpr int threads_of_block = 1024;
    static constexpr int lanes = 32;  // of a warp
    static constexpr int64_t grid_x = 2147483647, grid_yz = 65535;

    int shared_of_block() const { return shared_bytes - reserved_shared; }
    int warps() const { return threads / lanes; }
    // Returns how many iterations of a level run at once within one of the level around it, at
    // most: blocks of a cluster, warps of a block, lanes of a warp. Of `Device`, 1.
    int most_of(GpuLevel level) const;
};

// Operations that a multiprocessor does in a cycle; those of tensor cores are multiply-adds by the
// fastest instruction. 0: it has none.
struct GpuRates {
    int capability = 0;
    int f32 = 0, i32 = 0, multiply_add = 0, f16 = 0, f64 = 0, special = 0, conversions = 0;
    int tensor_f16 = 0, tensor_8 = 0, tensor_e4m3 = 0, tensor_tf32 = 0;
    int l1_bytes = 0;  // that come from the first cache, or from the memory of a block
    static constexpr int lanes_issued = 128;  // of instructions of any kind
};

// A card: numbers that differ between those of one capability.
struct GpuCard {
    std::string_view name;
    int capability = 0;
    int multiprocessors = 0;
    double gigahertz = 0;       // under the load of image kernels
    double dram_terabytes = 0;  // a second, of a copy
    double l2_terabytes = 0;    // a second, read
    double l2_megabytes = 0;
    double dram_cycles = 0;          // until what is loaded is there
    double launch_microseconds = 0;  // of a kernel behind another one of its stream
};

std::span<const GpuLimits> gpu_limits();
std::span<const GpuRates> gpu_rates();
std::span<const GpuCard> gpu_cards();

// Says what a kernel asks of a multiprocessor.
struct KernelNeeds {
    int threads = 0;    // of a block
    int registers = 0;  // of a thread, as ptxas counts them
    int shared = 0;     // bytes of a block
    int carve_out = 0;  // kilobytes of shared memory that a multiprocessor is given; 0: the most
};

// Returns the number of blocks that a multiprocessor runs at once, as NVIDIA's occupancy calculator
// has it; 0 if the kernel cannot be launched.
int resident_blocks(const GpuLimits &limits, const KernelNeeds &kernel);
// Returns the part of a multiprocessor's warps that these blocks have.
double occupancy(const GpuLimits &limits, const KernelNeeds &kernel);

// A GPU that schedules are made for: what all those of the target can do, and one card whose rates
// decide between schedules.
struct GpuMachine {
    GpuLimits limits;
    GpuRates rates;
    GpuCard card;

    // Returns how many instructions of single lanes the whole card issues in a microsecond.
    double lanes_in_microsecond() const;
    // Returns the capability that a program for the target may use, as in 90 for 9.0: the lowest
    // that the target names; else that of this machine's GPU, for a target of which code is made
    // just in time; else 75, which all have.
    static int capability_of(const Target &target);
    // A usual card of the target's capability.
    static GpuMachine usual(const Target &target);
    static GpuMachine of_capability(int capability);
};

}  // namespace tessera::autoscheduler

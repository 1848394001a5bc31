#pragma once
#include "autoscheduler/graph.h"
#include "base/target.h"

namespace tessera::autoscheduler {

// The abilities of a machine, per cycle of one core unless it says otherwise.
struct Machine {
    int cores = 1;
    int vector_bytes = 32;
    int registers = 16;  // for vectors
    // The cost of an operation on a machine vector, in cycles, where many follow one another.
    std::array<double, operation_classes> cycles = {};
    double scalar_math = 40;  // of a transcendental function of one number

    struct Cache {
        double bytes;            // what one core may use of it
        double bytes_per_cycle;  // that come into it from the next level
    };
    std::array<Cache, 3> caches = {};
    double memory_sharing = 4;  // cores that together take all bytes that memory gives

    // Instructions that add a group of products to a sum, f() += wide(a(r)) * wide(b(r)).
    struct DotProduct {
        Type a, b, sum;
        int group;
    };
    std::vector<DotProduct> dot_products;

    double parallel_launch = 8'000;  // cycles from the start of a parallel loop to all at work
    double task = 300;               // of an iteration of a parallel loop
    double fault_per_byte = 0.3;     // of fresh memory
    double allocation = 200;         // of a block on the heap
    double gathered_lane = 1.2;      // of a lane of a vector that is loaded from as many places

    // The least number of tasks that keeps all cores at work to the end of a parallel loop.
    int64_t least_tasks() const { return cores == 1 ? 1 : 4 * int64_t(cores); }

    // A usual machine of this kind. `cores`: 0: those of this one.
    static Machine usual(const Target &target, int cores = 0);
};

}  // namespace tessera::autoscheduler

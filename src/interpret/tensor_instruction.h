#pragma once
#include "interpret/memory.h"
#include "ir/tensor_operation.h"
#include <memory>
#include <optional>
#include <vector>

// The threads of a warp or a warpgroup run an instruction together: this is what each of them gives
// to it, and where they meet.
namespace tessera::interpret {

// A word of memory or of a register, with its poison.
struct Held {
    Word word = 0;
    uint8_t poison = 0;
};

// The place of an element in memory.
struct ElementPlace {
    MemoryRef memory;
    int64_t index = 0;
    bool operator==(const ElementPlace &) const = default;
};

// Holds what a thread gives to a tensor operation.
struct TensorThread {
    std::vector<Held> accumulators;
    std::vector<ElementPlace> a, b;  // as in ir::TensorOperation
};

// One time that threads run a tensor operation together.
struct TensorMeeting {
    explicit TensorMeeting(size_t threads) : threads(threads) {}
    std::vector<TensorThread> threads;
    size_t arrived = 0;
    bool is_done = false;  // the accumulators are the results
};

// A tensor operation with the instructions of which it consists.
struct TensorPlan {
    TensorPlan(const ir::MachineOp &op);

    ir::TensorOperation operation;
    ir::Instruction product;
    std::optional<ir::Instruction> load_a, load_b;  // if operands are fragments in registers
    ir::Layout accumulators;                        // of the whole tile
};

}  // namespace tessera::interpret

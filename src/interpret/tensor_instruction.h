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

// Holds what a thread gives to a tensor operation, of A or B: the places of an operand in memory,
// as in ir::TensorOperation, or its registers.
struct TensorThreadOperand {
    std::vector<ElementPlace> places;
    int64_t row_stride = 0;  // of rows of the CPU, in elements
    std::vector<Held> registers;
};
struct TensorThread {
    std::vector<Held> accumulators;
    TensorThreadOperand a, b;
};

// Elements that the machine reads until the last of the threads that run an instruction together
// has waited for it.
struct MachineReads {
    MachineReads() = default;
    MachineReads(const MachineReads &) = delete;
    ~MachineReads() {
        for (const ElementPlace &e : elements) e.memory->end_machine_read(e.index);
    }
    void begin(const ElementPlace &e) {
        e.memory->begin_machine_read(e.index);
        elements.push_back(e);
    }

private:
    std::vector<ElementPlace> elements;
};

// One time that threads run a tensor operation together.
struct TensorMeeting {
    explicit TensorMeeting(size_t threads) : threads(threads) {}
    std::vector<TensorThread> threads;
    std::shared_ptr<MachineReads> reads = std::make_shared<MachineReads>();
    size_t arrived = 0;
    bool is_done = false;  // the accumulators are the results
};

// A tensor operation with where its operands lie.
struct TensorPlan {
    TensorPlan(const ir::MachineOp &op);

    struct Operand {
        const ir::TensorOperation::Operand &given;
        const ir::InstructionOperand &of_instruction;
        std::optional<ir::Instruction> load;  // if it is loaded by rows
        ir::Layout layout;  // in registers: of the whole tile; in memory: of an instruction's
    };
    ir::TensorOperation operation;
    ir::Layout accumulators;  // of the whole tile
    Operand a, b;
};

}  // namespace tessera::interpret

#pragma once
#include "lower/gpu/kernel_description.h"
#include "lower/gpu/slices.h"

namespace tessera::lower {

// Storage that stands outside of what uses it: of the device, or of a block.
// All slices of it, one for each block, row or thread, have the same size.
struct StorageOutside {
    Ref<const ir::Allocate> node;
    MemoryType memory;
    Symbol size;
    ir::Expr most, slices;
    Symbol within = {};  // the memory of another buffer of the block, if it has
                         // none of its own
};

// Returns the statement with the storage allocated around it.
ir::Stmt allocated_around(const StorageOutside &storage, const ir::Stmt &s);

// Decides where the storage is that is allocated within a kernel, while its
// statements are visited.
//
//     where it is allocated     Auto, GPUShared         Heap Stack, Register
//     for all of a block        memory of the block     a slice for each block
//     each thread's for the lanes of a row    a slice for each row    a slice
//     for each row      each thread's in a thread               a slice for
//     each thread, neighbours side by side; its own if small
//
// Buffers of a block that are not used at the same time have the same memory.
class MemoryPlan {
public:
    // `lets` and `ranges` are of what is visited.
    MemoryPlan(const KernelDescription &kernel, const BlockLoops &blocks, const LetScope &lets,
               const algebra::IntervalScope &ranges)
        : kernel(kernel), blocks(blocks), lets(lets), ranges(ranges) {}

    // Puts what all threads of a block use into the memory of the block.
    void put_in_block(const ir::Allocate &a);
    // Gives what was put there last the memory of a buffer that is not used any
    // more, if there is one. Returns whose memory it is: undefined, if nobody
    // else may have it.
    Symbol share_memory(const ir::Allocate &a);
    void give_back(Symbol owner);
    // Return the slice of what is put into memory of the device for a block, and
    // into either for a row.
    Slice put_in_device(const ir::Allocate &a);
    Slice put_in_row(const ir::Allocate &a);
    // Returns the slice of a thread. `from`: what is allocated is for each index in the
    // dimensions from this one on: 0 for each thread, 1 for each row. Nothing:
    // the thread has it for itself.
    std::optional<Slice> put_in_thread(const ir::Allocate &a, size_t from);

    // Returns the body of a kernel with the memory of its blocks around it.
    ir::Stmt with_memory_of_block(ir::Stmt s) const;
    std::vector<StorageOutside> take_global() { return std::move(global); }

private:
    static ir::Expr add(std::vector<StorageOutside> &all, const ir::Allocate &a, MemoryType memory,
                        const ir::Expr &most, const ir::Expr &slices);
    ir::Expr most_elements(const ir::Allocate &a, algebra::IntervalScope variables,
                           bool is_shared) const;
    void unbind_blocks(algebra::IntervalScope &variables) const;

    const KernelDescription &kernel;
    const BlockLoops &blocks;
    const LetScope &lets;
    const algebra::IntervalScope &ranges;
    std::vector<StorageOutside> global, shared;
    // Buffers of the block whose memory others may have after them.
    struct Slot {
        Symbol buffer;
        bool is_free = false;
    };
    std::vector<Slot> slots;
};

// Returns true if a part of storage is so much smaller that it is better each
// thread's own. Rows of a loop that is not unrolled keep their distances, so
// that a thread's part may be as large as all of it.
bool is_much_smaller(const ir::Allocate &part, const ir::Allocate &all);

}  // namespace tessera::lower

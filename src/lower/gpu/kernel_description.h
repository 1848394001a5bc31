#pragma once
#include "ir/operators.h"
#include "lower/gpu/kernel_shape.h"
#include "lower/gpu/private_storage.h"
#include <unordered_map>

namespace tessera::lower {

constexpr int64_t threads_of_warp = 32;

// Holds what is known of a kernel before its loops over threads become one nest,
// found once.
struct KernelDescription {
    // The threads of a block that run the body: with roles, the consumers. The
    // extent of a dimension that there is not, and the symbol of its index, are
    // undefined.
    ThreadsOfBlock threads;
    bool has_thread_loops = false;
    std::unordered_map<Symbol, int> times_allocated;  // unrolled bodies have one buffer

    bool has_threads() const { return threads.names[0].defined(); }
    ir::Expr thread(size_t d) const { return ir::int32_variable(threads.names[d]); }
    const ir::Expr &extent(size_t d) const { return threads.shape[d]; }
    bool is_allocated_once(Symbol buffer) const { return times_allocated.at(buffer) == 1; }

    // ---- Roles ----

    ir::WarpRoles roles;                   // none, or what the body has a choice between
    size_t role_dimension = 0;             // whose last indices are the producer's
    int64_t consumers = 0, producers = 0;  // threads of a block; of one group of consumers
    int64_t groups_of_consumers = 1;       // that take tiles in turns
    Symbol place_in_block;  // of the thread in the role dimension, if there are two groups

    // The index of a thread is that in its group of consumers, and beyond, of the producer's.
    ir::Expr index_of_place() const;
    ir::Expr group_of_place() const;

    // Returns the number of threads of a block in a dimension, of all roles.
    ir::Expr extent_of_block(size_t d) const;
    ir::Expr is_consumer() const;
    // Returns a condition that one thread of the producer's fulfils.
    ir::Expr is_first_of_producer() const;
    ir::Expr index_of_producer() const;  // the number of a thread of the producer among these
};

// CompileError, at a directive, if a block has too many threads, or so many
// that rows of lanes, instructions or roles cannot be made of them.
KernelDescription describe_kernel(const ir::Stmt &body, const BlockLoops &blocks);

}  // namespace tessera::lower

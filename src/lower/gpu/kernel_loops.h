#pragma once
#include "ir/nodes.h"
#include <optional>

// The loops of a kernel, what a launch of it is told, and what it may call.
namespace tessera::lower {

// Returns true for a loop over threads or lanes.
bool is_over_threads(const ir::For &loop);

// Returns true for a loop over the lanes of a row.
bool is_over_lanes(const ir::For &loop);

// Returns true for a loop over blocks or over clusters of them. The outermost one is a kernel.
bool is_over_blocks(const ir::For &loop);

// Returns which of x, y and z the index of a loop over clusters, blocks or threads is: 0 for the
// innermost loop of its kind.
size_t dimension_of(const ir::For &loop);

// Returns by how much a coordinate grows from one iteration of a loop to the next; none if that
// depends on the iteration.
std::optional<int64_t> step_of(const ir::Expr &coordinate, const ir::For &loop);

// A kernel's first arguments: how many blocks and threads there are, and the bytes of memory that
// each block shares. Its own loops say the same of blocks and threads; code of a device reads from
// its registers which of them it is.
constexpr size_t launch_arguments = 7;
constexpr const char *launch_argument_names[launch_arguments] = {
    "grid_x", "grid_y", "grid_z", "threads_x", "threads_y", "threads_z", "shared_bytes"};

// Returns true for a call that prints: the one function of the host's that kernels may call.
bool is_print(const ir::ExternCall &call);

// The alignment of the end of each allocation in the memory of a block, in bytes: what the widest
// accesses want.
constexpr int neighbours_aligned_to = 128;

// Returns the alignment of the begin of an allocation in the memory of a block.
int shared_alignment(const ir::Allocate &node);

// Returns the bytes of an allocation in the memory of a block, rounded up so that the next one is
// aligned, and with room for its own alignment.
ir::Expr shared_bytes(const ir::Allocate &node);

}  // namespace tessera::lower

#pragma once
#include "algebra/bounds.h"
#include "lower/loops/let_scope.h"
#include <array>

// Finds a kernel's blocks and threads from its loops, before these are brought into one nest.
namespace tessera::lower {

constexpr size_t thread_dimensions = 3;  // x, y, z

// Returns how many loops over threads are nested in a statement.
size_t thread_depth(const ir::Stmt &s);

// Returns a loop over threads of which each has a row of lanes; null if there is none.
const ir::For *find_rows_of_lanes(const ir::Stmt &s);

// Returns the lanes of a row, as canonical kernels will have them, in a kernel, which is a loop
// over blocks; 0 if there are none, or it is not known.
int64_t lanes_of_rows(const ir::For &kernel);

// The loops over blocks around what the blocks of a kernel do, outermost first, and the lets
// between them.
class BlockLoops {
public:
    void push(const ir::For &loop);
    void pop();
    bool empty() const { return loops.empty(); }
    const algebra::IntervalScope &variables() const { return ranges; }
    // Return the number of blocks, and the index of this one.
    ir::Expr count() const;
    ir::Expr number() const;
    // Returns the number of a block in its cluster; no symbol if there are none.
    Symbol of_cluster() const;
    // Returns the roles of the kernel's warps.
    ir::WarpRoles roles() const { return loops.back()->origin.roles; }

    LetScope lets;

private:
    std::vector<const ir::For *> loops;
    algebra::IntervalScope ranges;
};

// Returns the number of threads of a block in each dimension, the same for all blocks: the most
// iterations of a loop over threads, 0 being the innermost; undefined if there is no such loop.
// CompileError if it depends on the block and has no bound that does not.
std::array<ir::Expr, thread_dimensions> block_shape(const ir::Stmt &body, const BlockLoops &blocks);

}  // namespace tessera::lower

#pragma once
#include "lower/gpu/block_accesses.h"
#include <functional>

namespace tessera::lower {

// Places barriers between the statements of those who run a body together: the
// threads of a block, the lanes of a row, the consumers of a kernel with roles,
// or the blocks of a cluster. Who uses it visits the statements in the order in
// which they run, and says what each accesses:
//
//     f[t] = in[t]                         f[t] = in[t]
//     g[t] = in[t + 1]             ->      g[t] = in[t + 1]
//                                          gpu_barrier()
//     out[t] = f[t + 1] + g[t + 2]         out[t] = f[t + 1] + g[t + 2]
//
// There is a barrier only between two statements of which one writes what the
// other accesses. In and before a serial loop it stands where the first
// iteration needs what was done before the loop, or the next iteration what
// this one does.
class BarrierPlacer {
public:
    using Statement = std::function<ir::Stmt()>;
    // `barrier` makes one; null: nobody has to wait, since only one runs the
    // body.
    explicit BarrierPlacer(Statement barrier) : barrier(std::move(barrier)) {}

    // Returns the barrier that has to stand before the next statement; undefined:
    // none.
    ir::Stmt before(BlockAccesses next);
    // Notes that all of them have met at a barrier of the body's own.
    void have_met();

    // Returns what is run once by all within one production. The accesses of the parts of
    // a production of a first definition are BlockAccesses::of_production of this
    // number.
    ir::Stmt in_production(const Statement &body);
    int number_of_production() const { return production; }

    // A serial loop that all run: what stands before it, and its body.
    struct Loop {
        ir::Stmt before, body;
    };
    Loop repeated(const Statement &body);
    // A condition that is the same for all.
    struct Branches {
        ir::Stmt then_case, else_case;
    };
    Branches either(const Statement &then_case, const Statement &else_case);
    // Returns a body that others run together than those around, who have
    // noted its accesses.
    ir::Stmt apart(const Statement &body);

    // Buffers for which no barrier has to be placed: of each thread, or with
    // barriers of their own.
    std::unordered_set<Symbol> privates;
    // Buffers that are in the memory of others.
    std::unordered_map<Symbol, Symbol> memory_of;

    // Nobody accesses a buffer any more.
    void forget(Symbol buffer);

private:
    // Holds the accesses since all have met.
    struct Phase {
        BlockAccesses pending;
        BlockAccesses leading;  // of a loop's body, before they meet in it for certain
        bool has_met = false;
    };
    Statement barrier;
    Phase phase;
    // The number of productions that were entered, and the number of this one.
    // The kernel itself is one.
    int productions = 1, production = 1;
};

}  // namespace tessera::lower

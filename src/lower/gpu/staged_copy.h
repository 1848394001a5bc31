#pragma once
#include "ir/nodes.h"
#include "ir/substitute.h"
#include <unordered_map>
#include <vector>

namespace tessera::lower {

// The Funcs whose storage is around a statement.
using Realizations = std::unordered_map<Symbol, const ir::Realize *>;

// The loops over the threads of a block, outermost first.
using ThreadLoops = std::vector<const ir::For *>;
// Returns the loops of the first nest in a statement. CompileError if there is none.
ThreadLoops threads_of(const ir::Stmt &s);

// One production of a ring buffer within a kernel, `produce f: ... f(x, y, slot) = g(x + a, y +
// b)`: a box that is copied. Further dimensions of g have one coordinate each, as in g(x + a, y +
// b, z) or g(x + a, z, y + b).
class StagedCopy {
public:
    // CompileError if it is no such copy.
    StagedCopy(const ir::Realize &ring, const ir::Stmt &production, const Realizations &storage);

    int64_t bytes() const;
    // Each thread copies 16 bytes at a time.
    ir::Stmt by_threads(const ThreadLoops &threads) const;
    // The machine copies a panel at a time; the barrier counts.
    ir::Stmt by_tiles(const ir::Expr &barrier) const;

private:
    void read(const ir::Stmt &s);
    void find_box(const ir::Provide &copy);
    size_t find_rows(const ir::For &along);
    void find_panels();
    ir::Stmt element(const ir::Expr &x, const ir::Expr &y) const;
    ir::Expr source_of(const ir::Expr &x, const ir::Expr &y) const;
    ir::Expr stored(const ir::Expr &x, const ir::Expr &y) const;
    ir::Expr map() const;
    ir::Stmt around(const ir::Stmt &s) const;
    [[noreturn]] void refuse(const std::string &why) const;

    const ir::Realize &ring;
    const ir::Stmt production;
    const Realizations &storage;
    std::vector<const ir::For *> loops;  // of more than one iteration
    ir::Substitution known;              // the values of lets, and of other loops
    const ir::ProducerConsumer *produce = nullptr;
    const ir::Call *source = nullptr;
    ir::Expr slot;
    std::vector<ir::Expr> first;  // coordinates of what is copied: of the first element
    size_t row_dimension = 1;     // of what is copied, in which its rows follow one another
    int32_t extents[2] = {};      // of the box
    ir::Expr rows_here;           // how many rows this iteration has, if there may be fewer
    ir::Layout layout;            // of the ring buffer
    int32_t of_panel = 0;         // elements of a row that lie side by side
};

// Returns how a ring buffer of copies lies in memory: in panels if it is an operand of
// instructions. Undefined: row by row, as what threads read themselves, or its extents are not
// known.
ir::Layout layout_of_ring(const ir::Realize &ring);

}  // namespace tessera::lower

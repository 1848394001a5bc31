#pragma once
#include "ir/nodes.h"
#include "lower/gpu/staged_copy.h"
#include "lower/gpu/tensor_maps.h"
#include <optional>
#include <vector>

namespace tessera::lower {

// A copy of all that storage in the memory of a block has to a buffer, or to a Func that is
// computed outside of the kernel, by serial loops:
//
//     for y in [0, +64): for x in [0, +128): f(x + x0, y + y0) = s(x, y)
//
// It is inferred who makes it: the machine stores boxes, and leaves out what is outside of f, or
// the threads that have computed s share it out.
class StoredTile {
public:
    // Nothing if the statement is no such copy.
    static std::optional<StoredTile> of(const ir::Realize &tile, const ir::Stmt &s,
                                        const Realizations &storage, const AroundCopy &around);

    Symbol stored_func() const { return provide->func; }
    // Returns the layout of the storage that the machine reads; undefined: it cannot store boxes.
    ir::Layout layout_for_machine() const;
    // The machine stores a panel at a time; a thread begins that, and waits for all of them.
    ir::Stmt by_machine() const;
    // Each thread stores 16 bytes at a time. Undefined: how many threads there are is not known.
    ir::Stmt by_threads(const ThreadLoops &threads) const;

private:
    // A dimension of what is stored to.
    struct Along {
        ir::Expr at, first;             // where an element is stored, and the first one
        std::optional<size_t> d;        // of the storage, that runs along it
        ir::Expr begin = {}, end = {};  // what is before or behind is not stored
    };
    StoredTile(const ir::Realize &tile, const Realizations &storage)
        : tile(tile), storage(storage) {}
    bool read(const ir::Stmt &s);
    ir::Expr expanded(const ir::Expr &e, const AroundCopy &around) const;
    bool find_storage(const AroundCopy &around);
    bool find_target(const AroundCopy &around);
    bool find_limits(const AroundCopy &around);
    ir::Stmt element(const std::vector<ir::Expr> &at) const;
    ir::Expr target() const;  // one of its elements
    ir::Expr shift_of_rows(const AroundCopy &around) const;
    std::vector<MappedDimension> mapped() const;

    const ir::Realize &tile;
    const Realizations &storage;
    std::vector<const ir::For *> loops;
    ir::Substitution known;            // the values of lets, and of loops of one iteration
    std::vector<ir::Expr> conditions;  // of being stored
    const ir::Provide *provide = nullptr;
    std::vector<const ir::For *> along;  // by dimension of the storage; null: it has one element
    std::vector<int64_t> extents;        // of the storage
    std::vector<Along> to;
    ir::Expr shift;  // of the map
};

}  // namespace tessera::lower

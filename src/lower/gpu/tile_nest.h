#pragma once
#include "ir/nodes.h"
#include "lower/gpu/tile_layout.h"
#include "lower/loops/let_scope.h"
#include <functional>
#include <unordered_map>
#include <vector>

namespace tessera::lower {

// The Funcs in MemoryType::Tile whose storage is around a statement.
using Tiles = std::unordered_map<Symbol, const ir::Realize *>;

// The dimensions of a Tile in which it has more than one element are columns and rows, in this
// order. Throws CompileError if there are not two of them.
struct TileDimensions {
    size_t columns, rows;
};
TileDimensions tile_dimensions(const ir::Realize &tile, const LetScope &around);

// Returns true if the loop is over warps or warpgroups, which run tensor instructions.
bool is_over_warps(const ir::For &loop);

// Describes what a nest of loops over warps (or warpgroups) does with the Tiles that its stage
// uses.
struct TileNest {
    // The element of a Tile that an iteration uses, in terms of the loops.
    struct Element {
        const ir::Realize *tile;
        std::vector<ir::Expr> at;
    };

    const TensorInstructionInfo *instruction = nullptr;
    std::vector<const ir::For *> warps;  // outermost first
    const ir::For *rows = nullptr, *columns = nullptr, *sum = nullptr;
    const ir::Provide *stage = nullptr;
    std::vector<Element> elements;  // of each Tile, in the order in which they are met
    bool is_tensorized = false;     // by an instruction
    bool is_store = false;          // of what is computed of the Tiles

    std::unordered_map<const ir::For *, int64_t> counts;  // iterations; 0 if they are not known

    int64_t count(const ir::For *loop) const { return counts.at(loop); }
};

// Returns true if this element is zero wherever the condition does not hold.
using IsZeroUnless = std::function<bool(const ir::Expr &condition, const ir::Call &element)>;

// Finds the parts of a nest whose outermost loop over warps is `outermost`. A condition of what is
// tensorized is left out if all that it reads beside Tiles is zero without it. Throws CompileError,
// at the directive of that loop, if the nest has another form, its sizes do not fit the
// instruction, or several threads would update one element at once.
TileNest read_tile_nest(const Tiles &tiles, const ir::For &outermost, const LetScope &around,
                        const IsZeroUnless &is_zero_unless);

// Throws CompileError at the loop of the nest: what it does with the Tile is refused, and why.
[[noreturn]] void refuse_nest(const ir::Realize &tile, const ir::For &nest, const std::string &why);

}  // namespace tessera::lower

#pragma once
#include "algebra/facts.h"
#include "ir/mutator.h"
#include "ir/tensor_operation.h"
#include "lower/gpu/tensor_operands.h"
#include "lower/gpu/tile_digits.h"

namespace tessera::lower {

// The variables in which elements of a Tile are compared between nests: the row and the column of
// the tile of a warp, and the loops over warps, numbered from the outermost on.
Symbol row_index();
Symbol column_index();
Symbol numbered_warp(size_t number);
// Returns between which values they lie in a nest.
algebra::Facts known_of_indices(const TileNest &nest);

// Says how the first nest that works on a Tile has shared it out.
struct SharedTile {
    TileNest nest;
    std::vector<ir::Expr> element;  // of an iteration of the loops over warps, a row and a column
};
using SharedTiles = std::unordered_map<Symbol, SharedTile>;

// Returns the layout of a Tile with the coordinates of an operand: its columns are those of A, or
// the rows of B, that are summed.
ir::Layout tile_as_operand(ir::Layout tile, std::string_view name);

// Returns in which order an instruction sums an operand that is in the registers of a Tile, so that
// each thread has what it wants already: from its own k to that of the tile. Nothing if there is
// none, or if the order is theirs.
//
//     sums of mma of bytes, thread(i%8*4 + j/2%4), as A, thread(i%8*4 + k/4%4):
//     k -> k(k/16*16 + k/2%2*8 + k/4%4*2 + k%2)
std::optional<ir::LayoutOutput> order_of_sum(const ir::Layout &tile, const ir::Layout &fragment);

// Fills a fragment, the part of an operand that each thread has in its registers: with whatever
// expression its elements are.
class FillFragment final : public ir::Mutator {
public:
    // `order`: that of the sum, if it is not the instruction's.
    FillFragment(const TensorizedStage &stage, const ir::TensorOperation &t, std::string_view name,
                 const Tiles &tiles, const SharedTiles &shares,
                 const std::optional<ir::LayoutOutput> &order);

    ir::Expr place() const;
    // Returns the statement with the fragment around it, which the operand fills. CompileError if
    // an element of a Tile in it is in registers of other threads than the instruction wants.
    ir::Stmt around(const FilledOperand &operand, const ir::Stmt &s);

private:
    ir::Expr in_registers(const ir::Expr &e);
    ir::Expr visit(const ir::Call &c) override;
    ir::Expr of_rows(const ir::Call &c, const SharedTile &tile) const;
    ir::Layout moved_registers(const ir::Call &c, const ir::Layout &tile) const;
    void check_elements(const ir::Call &c, const SharedTile &tile) const;
    [[noreturn]] void refuse(const ir::Call &c, const std::string &why) const;

    const TensorizedStage &stage;
    const std::string_view name;
    const Tiles &tiles;
    const SharedTiles &shares;
    const ir::Layout layout, elements;
    const Type type;
    const Digits own, sum;
    const Symbol array;
};

}  // namespace tessera::lower

#pragma once
#include "ir/instruction.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::ir {

// Instructions that copy a tile between the memory of the device and that of a block, as rows of
// the table: PTX ISA 9.0, section 9.7.9.27 (cp.async.bulk.tensor). One thread has a unit of the
// machine copy a box of an array that a tensor map describes.
struct BoxCopy {
    enum class Mode : uint8_t {
        Load,    // a box
        Im2col,  // so many channels of so many places of a convolution, one after the other
        Store,   // a box, to the array
    };
    Mode mode = Mode::Load;
    bool is_shared = false;  // each of several blocks of a cluster gets it
    size_t rank = 0;         // of the array
    int bits = 0;            // of an element
    // Its extents, innermost first; of Im2col: channels and places.
    std::vector<int64_t> box;

    // Such as cp.async.bulk.tensor.2d.b16.64x128, or .4d.im2col.b16.64x128.
    std::string name() const;
    // Nothing if it is no such name.
    static std::optional<BoxCopy> of(std::string_view name);
    // The meaning is T(d0, d1, ...) = S(d0, d1, ...), or the other way. T lies in the memory of the
    // block, one row of the box after the other (the map has the swizzle); the map says where each
    // row of S is. In the line of assembly stand $T for the place of the box, $M for the map, $C
    // for the coordinates of its first element, $F for the barrier that counts its bytes, $O for
    // the offsets of Im2col and $B for the blocks that get it.
    Instruction instruction() const;
    bool operator==(const BoxCopy &) const = default;
};

// Ends a group of stores: the thread waits until what it has stored may be overwritten.
Instruction end_of_stores();
// cp.async: a thread copies bytes to the memory of the block; $Z: nothing, or how many are not
// zero.
Instruction copy_of_thread(int64_t bytes, int bits);
// The bytes that threads may copy at a time, the most first.
constexpr int bytes_of_thread[] = {16, 8, 4};

// Returns the row of this name among those that copy; nothing if there is none.
std::optional<Instruction> find_copy(std::string_view name);

// The operands of a MachineOp copy_tile by their names: a box by a BoxCopy, or a group of stores,
// which has no operands but its name, end_of_stores().
struct TileCopy {
    BoxCopy copy;
    Expr place;            // of the box in the memory of the block
    Expr map;              // of the array
    Expr barrier, blocks;  // of loads; blocks: 0 if only this block gets it
    std::vector<Expr> coordinates;
    std::vector<Expr> offsets;  // Im2col: of a tap, along each dimension of places

    // Throws InternalError if the operands are not those of such a copy (fault_of_tile_copy()).
    static TileCopy of(const MachineOp &op);
    static bool is_group(const MachineOp &op);
    std::vector<Expr> operands() const;
    // The numbers of operands: that of the place, and of the map.
    static constexpr size_t place_operand = 1;
};

// The numbers that describe an array to the runtime (tessera_cuda_tensor_map): the BoxCopy::Mode
// of its copies, its dimensions, their extents, the distances from an element
// to the next along each but the first; the extents of a box, one for each dimension, or the
// channels and places of Im2col with, for each dimension of places, the step from one place to the
// next, where places begin, and where they end, beyond the extent; the distance along the first
// dimension, which has to be 1; how many elements before a row its coordinates count from (of
// stores 0; negative: no number lets all boxes begin at multiples of 16 bytes); and the swizzle of
// the box. These are the operands of the intrinsic
// tensor_map behind where the array's first element is, and an element's bytes.
constexpr size_t numbers_of_map(bool is_im2col, size_t rank) {
    const size_t of_box = is_im2col ? 2 + 3 * (rank - 2) : rank;
    return 2 + rank + (rank - 1) + of_box + 3;
}

// Says what is wrong with the operands of a MachineOp copy_tile. Empty if they are right.
std::string fault_of_tile_copy(const MachineOp &op);
// Returns true if a statement stores tiles by BoxCopy, which reads what threads have stored in the
// memory of the block.
bool stores_tiles(const Stmt &s);

}  // namespace tessera::ir

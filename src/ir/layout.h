#pragma once
#include "ir/expr.h"
#include "ir/field_list.h"
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::ir {

// A layout is a map from coordinates to places, such as (thread, register) or a byte of a memory,
// in digits of mixed radix (the layouts of CuTe, NVIDIA CUTLASS 3, are maps of this kind). The A
// fragment of mma m16n8k16, and an operand of wgmma that is stored along k in panels of 64 elements
// whose 16-byte slots the machine swizzles, are
//
//     i:16 k:16 -> thread(i%8*4 + k/2%4) register(k/8*4 + i/8*2 + k%2)
//     i:64 k:128 -> byte^128(k/64*8192 + i*128 + k%64*2)

// What machines exchange, copy and load as a whole in the memory of a block: slots of 16 bytes. A
// row of at most 128 bytes is swizzled: a few bits of the number of a slot in its row are exchanged
// by the number of the row, so that slots above one another are in different banks.
constexpr int64_t slot_bytes = 16, most_swizzle = 128;
// Returns the address of a byte in memory whose rows of `swizzle` bytes are swizzled: 32, 64 or
// 128, or 0 for none.
constexpr int64_t swizzled(int64_t address, int64_t swizzle) {
    return swizzle == 0 ? address : address ^ ((address >> 3) & (swizzle - slot_bytes));
}
// Returns the bytes after which the exchange begins anew: swizzled storage begins at a multiple.
constexpr int64_t swizzle_period(int64_t swizzle) { return 8 * swizzle; }

// The digit `coordinate / divisor % extent`, times `stride`.
struct LayoutDigit {
    size_t coordinate = 0;  // its number
    int64_t divisor = 1, extent = 1, stride = 1;
    bool operator==(const LayoutDigit &) const = default;
    using Fields = FieldList<&LayoutDigit::coordinate, &LayoutDigit::divisor, &LayoutDigit::extent,
                             &LayoutDigit::stride>;
};

struct LayoutCoordinate {
    std::string name;
    int64_t extent = 1;
    bool operator==(const LayoutCoordinate &) const = default;
    using Fields = FieldList<&LayoutCoordinate::name, &LayoutCoordinate::extent>;
};

// One number of a place: the sum of its digits. `swizzle` is 0, 32, 64 or 128, the bytes of a row
// whose slots are exchanged (swizzled()).
struct LayoutOutput {
    std::string name;
    int64_t swizzle = 0;
    std::vector<LayoutDigit> digits;
    bool operator==(const LayoutOutput &) const = default;
    using Fields = FieldList<&LayoutOutput::name, &LayoutOutput::swizzle, &LayoutOutput::digits>;

    int64_t extent() const;  // one more than the largest value, unswizzled
};

struct Layout {
    std::vector<LayoutCoordinate> coordinates;
    std::vector<LayoutOutput> outputs;
    bool operator==(const Layout &) const = default;
    bool defined() const { return !outputs.empty(); }
    using Fields = FieldList<&Layout::coordinates, &Layout::outputs>;

    // Returns the one of this name; null if there is none.
    const LayoutCoordinate *coordinate(std::string_view name) const;
    const LayoutOutput *output(std::string_view name) const;
    int64_t size() const;  // the number of elements
};

// Reads what operator<< prints. Throws CompileError if the text is no layout, or if a digit does
// not divide its coordinate.
Layout parse_layout(std::string_view text);
std::ostream &operator<<(std::ostream &out, const Layout &layout);

// Returns the place of an element. `base` is added to the last output before that is swizzled,
// because the machine exchanges bits of addresses, not of distances within a tile.
std::vector<int64_t> place_of(const Layout &layout, std::span<const int64_t> element,
                              int64_t base = 0);
// Returns the element at a place; nothing if there is none.
std::optional<std::vector<int64_t>> element_at(const Layout &layout, std::span<const int64_t> place,
                                               int64_t base = 0);
// Returns the value of an output for an element, unswizzled, as an expression of the coordinates.
Expr value_of(const LayoutOutput &output, std::span<const LayoutCoordinate> coordinates,
              std::span<const Expr> element);

// Returns the output in units of so many. Throws InternalError if a stride is no multiple.
LayoutOutput in_units_of(const LayoutOutput &output, int64_t unit);
// Returns how many elements lie side by side along a coordinate, from any multiple of that number
// on, if each takes so many units of an output.
int64_t neighbours(const LayoutOutput &output, size_t coordinate, int64_t unit);

// Returns true if no two elements share a place; bijective: if also no place within the extents of
// the outputs is empty.
bool is_injective(const Layout &layout);
bool is_bijective(const Layout &layout);
// Returns true if each output is the coordinate of its position, whatever their names are.
bool is_identity(const Layout &layout);

// Returns the layout from places to elements. Throws InternalError if the layout is not bijective
// or is swizzled.
Layout inverse(const Layout &layout);
// Returns the layout that is first `inner` and then `outer`, whose coordinates are the outputs of
// `inner` of the same names. Throws InternalError if one is missing or swizzled, or if the digits
// of one do not divide those of the other.
//
//     i:16 -> a(i%4) b(i/4)   then   a:4 b:4 -> byte(a*8 + b)   =   i:16 -> byte(i%4*8 + i/4)
Layout compose(const Layout &outer, const Layout &inner);
// Returns the layout of a larger tile that consists of tiles of this layout, one behind the other
// in the named output, those along the last coordinate first. Throws InternalError if an extent is
// no multiple.
//
//     i:2 j:2 -> thread(i) register(j)   to {4, 4} in register
//     =   i:4 j:4 -> thread(i%2) register(i/2*4 + j/2*2 + j%2)
Layout tiled(const Layout &tile, std::span<const int64_t> extents, std::string_view output);

// Returns the layout in memory of elements of so many bytes in panels, from d0, d1, ... to a byte.
// Rows along d0 of more than 128 bytes are cut into panels of 128 bytes, which lie one after the
// other, each with all its rows, which are numbered by the coordinates up to the last; that one
// comes after these. Rows are swizzled as far as slots above one another would be in one bank.
// Throws InternalError if panels do not divide a row.
//
//     {128, 64, 3}, 2   ->   d0:128 d1:64 d2:3 -> byte^128(d0%64*2 + d1*128 + d0/64*8192 +
//                                                          d2*16384)
Layout panel_layout(std::span<const int64_t> extents, int64_t element_bytes);

}  // namespace tessera::ir

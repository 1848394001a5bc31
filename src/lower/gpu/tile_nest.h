#pragma once
#include "base/target.h"
#include "ir/instruction.h"
#include "ir/nodes.h"
#include "ir/substitute.h"
#include "lower/loops/accumulate.h"
#include "lower/loops/let_scope.h"
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::lower {

// The Funcs in MemoryType::Tile whose storage is around a statement, with the dimensions that rows
// and columns of instructions run along, and the name of the instruction, or the family, that
// computes it. Empty: none does, and the layout is that of the first one that its threads can run.
// A Tile of rows has no columns: each thread that has elements of a row of other Tiles has its
// value. `slots` is a dimension that slides along a loop, of which several elements are kept.
struct Tile {
    const ir::Realize *storage = nullptr;
    std::vector<size_t> columns = {}, rows = {};
    std::optional<size_t> slots = {};
    std::string instruction = "";

    bool is_of_rows() const { return columns.empty(); }
};
using Tiles = std::unordered_map<Symbol, Tile>;

// Reads what the body of its storage says of a Tile. What a loop of a tensorized nest runs along
// together with the innermost dimension are columns; without such a nest the two dimensions of more
// than one element are columns and rows, and an only one is rows. Throws CompileError if there are
// others.
Tile read_tile(const ir::Realize &storage, const LetScope &around);

// Returns the instructions of a name or family (ir::instructions_named), those that GPUs of the
// target do not have after all others.
std::vector<ir::Instruction> instructions_for(const Target &target, std::string_view name,
                                              int64_t columns);

// Returns true if the loop is over warps or warpgroups, which run tensor instructions.
bool is_over_warps(const ir::For &loop);

// The loops of a nest that run over one index of an instruction, outermost first: of an index i the
// innermost loop has the lowest digit.
class IndexLoops {
public:
    void add(const ir::For &loop, int64_t iterations) { all.push_back({&loop, iterations}); }
    bool empty() const { return all.empty(); }
    bool contains(const ir::For &loop) const;
    int64_t extent() const;
    const ir::For &outermost() const { return *all.front().loop; }
    const ir::For &innermost() const { return *all.back().loop; }

    struct Digit {
        const ir::For *loop;
        int64_t iterations, stride = 1;
    };
    // Returns the loops with how far apart the indices of two iterations are.
    std::vector<Digit> digits() const;
    // Adds the values that the loops' variables have at an index.
    void put_values(const ir::Expr &index, ir::Substitution &to) const;

private:
    std::vector<Digit> all;
};

// Describes what a nest of loops over warps (or warpgroups) does with the Tiles that its stage
// uses.
struct TileNest {
    // The element of a Tile that an iteration uses, in terms of the loops.
    struct Element {
        const ir::Realize *tile;
        std::vector<ir::Expr> at;
    };

    ir::Instruction instruction;         // whose sums the Tile is
    std::vector<const ir::For *> warps;  // outermost first
    IndexLoops rows, columns, sum;
    const ir::Provide *stage = nullptr;
    std::vector<Element> elements;     // of each Tile, in the order in which they are met
    std::string tensorized;            // the name of the instruction that is asked for; empty: none
    bool is_store = false;             // of what is computed of the Tiles
    std::vector<ir::Expr> conditions;  // under which the stage is run, outermost first
    // The columns of each row are reduced to the value of a Tile of rows; none: they are not.
    std::optional<Accumulation> of_row;

    std::unordered_map<const ir::For *, int64_t> counts;  // iterations; 0 if they are not known

    bool is_tensorized() const { return !tensorized.empty(); }
    int64_t count(const ir::For *loop) const { return counts.at(loop); }
    // Returns where the elements lie: from i and j to (thread, register).
    ir::Layout registers() const;
    // Returns the same for a Tile, which may be one of rows.
    ir::Layout registers_of(const Tile &tile) const;
};

// Returns where the rows of a tile of this layout lie: from i to the digits of (thread, register)
// that depend on it, registers numbered without the others.
ir::Layout layout_of_rows(ir::Layout layout);

// Finds the parts of a nest whose outermost loop over warps is `outermost`. Throws CompileError, at
// the directive of that loop, if the nest has another form, its sizes do not fit the instruction,
// or several threads would update one element at once.
TileNest read_tile_nest(const Tiles &tiles, const ir::For &outermost, const LetScope &around,
                        const Target &target);

// Throws CompileError at the loop of the nest: what it does with the Tile is refused, and why.
[[noreturn]] void refuse_nest(const ir::Realize &tile, const ir::For &nest, const std::string &why);

}  // namespace tessera::lower

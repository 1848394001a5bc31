#pragma once
#include "algebra/facts.h"
#include "ir/nodes.h"
#include "ir/substitute.h"
#include "ir/tile_copy.h"
#include "lower/loops/let_scope.h"
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tessera::lower {

// The Funcs whose storage is around a statement.
using Realizations = std::unordered_map<Symbol, const ir::Realize *>;

// The loops over the threads of a block, outermost first.
using ThreadLoops = std::vector<const ir::For *>;
// Returns the loops of the first nest in a statement. CompileError if there is none.
ThreadLoops threads_of(const ir::Stmt &s);

// Says which blocks of a cluster make a copy together: each of them one of the parts, for all.
struct SharedCopy {
    int64_t parts = 1;
    ir::Expr part;    // that this block copies
    ir::Expr blocks;  // a bit for each of them; 0: only this block has the copy
};

struct MappedDimension;  // tensor_maps.h

// Facts around a copy: the names that are bound within the kernel, and of these the values of lets
// and the intervals of loops.
struct AroundCopy {
    // Implicit: where nothing else is known.
    AroundCopy(const std::unordered_set<Symbol> &names, algebra::Facts facts = {},
               ir::Substitution lets = {})
        : names(names), facts(std::move(facts)), lets(std::move(lets)) {}
    const std::unordered_set<Symbol> &names;
    const algebra::Facts facts;
    const ir::Substitution lets;
};

// One production of a ring buffer within a kernel, `produce f: ... f(x, y, slot) = value`: a box of
// constant extents. The loops that compute it may run over a part of the box only, from its first
// element on; what is beyond is zero.
//
// A value g(...) of a buffer, or of a Func that is computed outside of the kernel, is copied, also
// if it is that on a condition and 0 otherwise. Others are computed.
class StagedCopy {
public:
    // CompileError if it is no such production.
    StagedCopy(const ir::Realize &ring, const ir::Stmt &production, const Realizations &storage);

    int64_t bytes() const;
    // CompileError if instructions read it, and its rows are not as wgmma wants them.
    void check_rows_for_wgmma() const;
    // Returns true if the element at these coordinates of the box, in terms of what is around the
    // production, is zero wherever the condition does not hold.
    bool is_zero_unless(const ir::Expr &condition, const std::vector<ir::Expr> &at,
                        const LetScope &lets) const;
    // Each thread copies 16 bytes at a time, asynchronously if they are neighbours in a buffer; if
    // they are not known to be, 8 or 4. Each computes 16 bytes at a time otherwise.
    ir::Stmt by_threads(const ThreadLoops &threads) const;
    // Returns true if the machine can copy it: boxes of what is copied, or, where rows of the box
    // are places of a convolution that follow one another through lines and images, these
    // (BoxCopy::Mode::Im2col).
    bool is_by_tiles(const AroundCopy &around) const;
    // Returns true if blocks of a cluster can copy so many parts of one size.
    bool has_parts(int64_t parts) const;
    // The machine copies a panel at a time; the barrier counts.
    ir::Stmt by_tiles(const ir::Expr &barrier, const AroundCopy &around,
                      const SharedCopy &shared = {}) const;
    // Returns true if what is copied, or where to, follows from one of these names: those of loops,
    // or of lets around with what `lets` has for them.
    bool depends_on(Symbol loop, const ir::Substitution &lets) const;

private:
    // A dimension of what is copied, as the machine sees it.
    struct TiledDimension {
        size_t of_source = 0;          // its number there
        ir::Expr at = {};              // where an element is copied from
        ir::Expr first = {};           // of the box
        std::optional<size_t> d = {};  // of the box, that runs along it
        // What is before `begin`, after `last`, or not before `end`, is zero, beside what the
        // buffer does not have.
        ir::Expr begin = {}, last = {}, end = {};
    };
    // A dimension of places: neighbours among the rows of the box are `step` elements apart, until
    // the line, or the image, ends; a tap reads `offset` elements behind.
    struct PlacesAlong {
        TiledDimension of_source;
        int64_t step = 1, count = 1;
        ir::Expr first, offset;
    };
    // The rows of the box are places of a convolution from one of this number on.
    struct Places {
        TiledDimension channels, images;
        std::vector<PlacesAlong> along;
        ir::Expr number;  // of the first one
        int64_t of_image = 1;
    };
    // The machine copies from the coordinates of a first element on; a dimension of the box runs
    // along each.
    struct ByMachine {
        ir::BoxCopy copy;
        ir::Expr map;
        std::vector<ir::Expr> first, offsets;
        std::vector<std::optional<size_t>> of_box;
    };
    void read(const ir::Stmt &s);
    void find_box(const ir::Provide &store);
    void find_coordinates(const ir::Provide &store);
    void find_value(const ir::Expr &computed);
    void find_panels();
    bool is_contiguous(int32_t elements) const;
    int32_t contiguous_elements() const;
    int32_t computed_elements() const;
    bool has_partial(int32_t elements) const;

    ir::Expr value_at(const std::vector<ir::Expr> &at) const;
    ir::Expr whole(const std::vector<ir::Expr> &at, int32_t elements) const;
    ir::Stmt store(const ir::Expr &value, std::vector<ir::Expr> at) const;
    ir::Stmt chunk(const std::vector<ir::Expr> &first, int32_t elements, bool is_copied) const;
    std::vector<TiledDimension> tiled_dimensions(const std::unordered_set<Symbol> &of_kernel) const;
    bool is_filled_outside(const std::vector<TiledDimension> &dimensions) const;
    std::optional<TiledDimension>
    tiled_dimension(size_t of_source, const std::unordered_set<Symbol> &of_kernel) const;
    TiledDimension clamped_dimension(size_t of_source,
                                     const std::unordered_set<Symbol> &of_kernel) const;
    bool equal_to_coordinate(const ir::Expr &e, size_t d) const;
    // The operands of a minimum.
    static std::vector<ir::Expr> least_ends(const ir::Expr &end);
    bool find_end(TiledDimension &dimension, const std::unordered_set<Symbol> &of_kernel) const;
    std::optional<Places> places(const AroundCopy &around) const;
    bool find_places_end(Places &places, const AroundCopy &around) const;
    bool has_room(const Places &places, const AroundCopy &around) const;
    MappedDimension mapped_places(const PlacesAlong &p) const;
    bool has_rows_of_machine() const;
    size_t dimension_of_parts(int64_t parts) const;
    ir::Expr shift_of_rows(const TiledDimension &along_rows, const AroundCopy &around) const;
    ByMachine by_boxes(const std::vector<TiledDimension> &dimensions,
                       const std::vector<int32_t> &lengths, const ir::Expr &shift) const;
    ByMachine by_places(const Places &places, const ir::Expr &begin, int32_t count,
                        const ir::Expr &shift) const;
    MappedDimension mapped_part(const TiledDimension &d) const;
    ir::Stmt around(const ir::Stmt &s) const;
    [[noreturn]] void refuse(const std::string &why) const;

    const ir::Realize &ring;
    const ir::Stmt production;
    const Realizations &storage;
    std::vector<const ir::For *> loops;  // of more than one iteration
    ir::Substitution known;              // the values of lets, and of other loops
    const ir::ProducerConsumer *produce = nullptr;
    ir::Expr slot;
    std::vector<Symbol> coordinates;  // of an element in the box
    std::vector<int32_t> extents;     // of the box
    std::vector<ir::Expr> limits;     // coordinates from here on are zero; undefined: none are
    ir::Expr value;                   // of the element there
    ir::Expr condition;               // of being copied, or else zero; undefined: it always is
    ir::Expr source;                  // a Call: what is copied; undefined: the value is computed
    ir::Layout layout;                // of the ring buffer
    int32_t of_panel = 0;             // elements of a row that lie side by side
};

// Returns how a ring buffer lies in memory: in panels if it is an operand of instructions.
// Undefined: row by row, as what threads read themselves, or nobody knows its extents.
ir::Layout layout_of_ring(const ir::Realize &ring);
// Returns true if instructions read panels of storage that is no ring buffer, and how it lies in
// memory then.
bool has_panels(const ir::Realize &storage);
ir::Layout layout_of_panels(const ir::Realize &storage);
// Returns the layout in panels of storage of these extents that is no ring buffer.
ir::Layout panels_of(std::vector<int64_t> extents, int64_t element_bytes);

}  // namespace tessera::lower

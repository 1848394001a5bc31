#pragma once
#include "base/error.h"
#include "ir/expr.h"
#include "ir/field_list.h"
#include "ir/layout.h"
#include <string>
#include <vector>

// The facts about a statement besides what it does: where it comes from, and what the schedule
// wants of it. A pass finds it where it needs it, and keeps it where it copies the statement
// (`with`). Places where the user wrote something are for messages only: they are not compared, and
// not in the text.
namespace tessera::ir {

// The integers [min, min + extent).
struct Range {
    Expr min, extent;
    Range() = default;
    Range(Expr min, Expr extent) : min(std::move(min)), extent(std::move(extent)) {}
    using Fields = FieldList<&Range::min, &Range::extent>;
};
using Region = std::vector<Range>;

// The roles of a kernel's warps. Without roles, all threads do everything; with them, `producers`
// threads more than the others need copy ahead what the others, the consumers, use.
struct WarpRoles {
    int producers = 0;  // a warp or a warpgroup; 0: there are no roles
    // Registers of each thread of a role; 0: as many as the threads of one kernel have.
    int producer_registers = 0, consumer_registers = 0;
    // Consumers are twice as many as a tile needs, and each half takes every other tile: one half
    // stores while the instructions of the other run.
    bool ping_pong = false;
    Location written;
    bool any() const { return producers > 0; }
    friend bool operator==(const WarpRoles &a, const WarpRoles &b) {
        return a.producers == b.producers && a.producer_registers == b.producer_registers &&
               a.consumer_registers == b.consumer_registers && a.ping_pong == b.ping_pong;
    }
    using Fields = FieldList<&WarpRoles::producers, &WarpRoles::producer_registers,
                             &WarpRoles::consumer_registers, &WarpRoles::ping_pong>;
};

// Identifies the user's loop that a loop is: the one over `var` of a stage of `func`.
struct LoopOrigin {
    Symbol func, var;  // undefined: lowering has made the loop
    int stage = 0;
    bool is_reduction = false;  // its iterations may work on one element of the function
    Symbol instruction;         // that runs the iterations of a tensorized loop; else undefined
    Location kind_written;
    // For loops over blocks or clusters: how many rows a group has in which they are begun, and how
    // many blocks run on each multiprocessor in place of all. 0: in the order of the loops, as many
    // as there are.
    int block_group = 0, blocks_per_processor = 0;
    bool is_along_hilbert_curve = false;  // the order in which blocks or clusters are begun
    int resident_blocks = 0;  // that have room on a multiprocessor at least; 0: nobody says
    WarpRoles roles;          // of a kernel, on its loops over blocks
    bool known() const { return func.defined(); }
    using Fields =
        FieldList<&LoopOrigin::func, &LoopOrigin::var, &LoopOrigin::stage,
                  &LoopOrigin::is_reduction, &LoopOrigin::instruction, &LoopOrigin::block_group,
                  &LoopOrigin::blocks_per_processor, &LoopOrigin::is_along_hilbert_curve,
                  &LoopOrigin::resident_blocks, &LoopOrigin::roles>;
};

// The buffers whose elements the body of a loop reads and writes past the caches. A loop without an
// origin inherits this from the loop around it.
struct Streams {
    bool all_loads = false;
    std::vector<Symbol> loads, stores;
    bool any() const { return all_loads || !loads.empty() || !stores.empty(); }
    using Fields = FieldList<&Streams::all_loads, &Streams::loads, &Streams::stores>;
};

// One dimension of what a production must compute: [min, max], and how it is computed.
struct ProducedRange {
    static constexpr int unknown = 0;
    Expr min, max;
    // Just this is computed if the extent is a multiple of it. Unknown: no multiple will do.
    int multiple = 1;
    bool is_mixed = false;  // an update of a point reads or writes others along the dimension
    bool is_exact() const { return multiple == 1; }
    using Fields = FieldList<&ProducedRange::min, &ProducedRange::max, &ProducedRange::multiple,
                             &ProducedRange::is_mixed>;
};

// The values that are computed where a Func is produced.
struct Produced {
    bool in_stages = false;       // there are updates: elements have other values at first
    std::string extern_function;  // in C, that computes it, as the user calls it; empty: none
    bool is_profiled = true;      // time and memory that it takes are counted for it
    // The ranges of a Func that is stored further out, up to the pass "sliding window", after which
    // only a part of it is computed.
    std::vector<ProducedRange> ranges;
    using Fields = FieldList<&Produced::in_stages, &Produced::extern_function,
                             &Produced::is_profiled, &Produced::ranges>;
};

// A dimension of which an element is kept at its coordinate modulo an extent.
struct StorageFold {
    int dim = 0;
    bool is_done = false;  // it is; else it is to be
    Symbol var;            // what the user calls the dimension, who wants it to be folded
    Expr factor;           // by that; undefined: nobody asks for it
    Location written;
    using Fields = FieldList<&StorageFold::dim, &StorageFold::is_done, &StorageFold::var,
                             &StorageFold::factor>;
};

// A dimension in the order in which elements lie in memory.
struct StoredDimension {
    int dim = 0;
    Expr alignment;  // the extent is rounded up to a multiple of it; undefined: 1
    Symbol var;      // what the user calls the dimension, who gives it a bound
    Expr bound;      // a promised upper limit of the extent; undefined: none
    Location bound_written;
    using Fields = FieldList<&StoredDimension::dim, &StoredDimension::alignment,
                             &StoredDimension::var, &StoredDimension::bound>;
};

// Says what is reported of a Func or an image while a pipeline runs.
struct Traced {
    bool loads = false, stores = false, realizations = false;
    std::string tag;  // reported once, when the pipeline begins
    bool accesses() const { return loads || stores; }
    bool any() const { return accesses() || realizations || !tag.empty(); }
    using Fields = FieldList<&Traced::loads, &Traced::stores, &Traced::realizations, &Traced::tag>;
};

// The facts about the storage of a Func.
struct StorageFacts {
    // Holds the flat buffer of each value. None: the one value is in a buffer of the function's
    // name.
    std::vector<Symbol> buffers;
    // Innermost first. Dimensions that are not there come after these, in their order.
    std::vector<StoredDimension> order;
    std::vector<StorageFold> folds;  // by dimension, in their order
    bool is_async = false;           // it is to be computed on a thread of its own
    bool is_passed = false;          // functions in C read or write parts of it
    Traced traced;                   // accesses by their coordinates, wherever they are stored
    Expr copies;  // of a ring buffer, numbered by the last dimension; undefined: one
    bool is_copy_shared = false;  // several productions in a row use one copy
    // What is copied into it is waited for where it is used: no barrier is placed for it, and no
    // other storage takes its memory.
    bool is_pipelined = false;
    // Where an element is, from the coordinates d0, d1, ... (from the first of each) to a byte;
    // undefined: one row after the other, in `order`.
    Layout layout;
    Location async_written, compute_written;
    using Fields =
        FieldList<&StorageFacts::buffers, &StorageFacts::order, &StorageFacts::folds,
                  &StorageFacts::is_async, &StorageFacts::is_passed, &StorageFacts::traced,
                  &StorageFacts::copies, &StorageFacts::is_copy_shared, &StorageFacts::is_pipelined,
                  &StorageFacts::layout>;
};

// Names the Func whose flat storage this is.
struct AllocationFacts {
    Symbol func;
    Location compute_written;
    // A buffer in whose memory it is, of a kernel's block; they are not used at the same time.
    // Undefined: it has memory of its own.
    Symbol within;
    // The bytes of a row whose slots are exchanged (swizzled() in ir/layout.h); 0: none.
    int swizzle = 0;
    bool is_pipelined = false;  // as in StorageFacts
    using Fields = FieldList<&AllocationFacts::func, &AllocationFacts::within,
                             &AllocationFacts::swizzle, &AllocationFacts::is_pipelined>;
};

// Says how hoisted storage is allocated.
struct HoistFacts {
    Expr copies;  // so many, as a ring buffer; undefined: one
    Location hoist_written, copies_written;
    using Fields = FieldList<&HoistFacts::copies>;
};

}  // namespace tessera::ir

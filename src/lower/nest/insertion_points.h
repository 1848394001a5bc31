#pragma once
#include "lower/nest/callers.h"
#include "lower/program_context.h"
#include <map>

namespace tessera::lower {

// Finds where each function is computed and stored, as the schedules say: an index from places to
// functions, each list in the order of the context (producers first).
class InsertionPoints {
public:
    explicit InsertionPoints(const ProgramContext &context);

    // The functions that are computed, stored or allocated in the body of the loop over `var` of a
    // stage.
    std::vector<Symbol> at(Symbol func, int stage, Symbol var) const;
    // Functions with updates that are scheduled inline: each definition that reads one computes it
    // for itself.
    const std::vector<Symbol> &inlined_reductions() const { return inlined; }

    bool computes(Symbol func, const InsertionPoint &insertion_point) const;
    bool stores(Symbol func, const InsertionPoint &insertion_point) const;
    bool hoists(Symbol func, const InsertionPoint &insertion_point) const;

private:
    bool matches(const program::LoopLevel &level, Symbol func,
                 const InsertionPoint &insertion_point) const;
    const ProgramContext &context;
    std::map<std::pair<Symbol, Symbol>, std::vector<Symbol>> by_loop;
    std::vector<Symbol> inlined;
};

// The levels that a schedule amounts to: storage follows the computation, and its allocation the
// storage, unless the user says otherwise.
const program::LoopLevel &store_level(const program::FuncSchedule &s);
const program::LoopLevel &hoist_level(const program::FuncSchedule &s);
// Returns the line of the ring_buffer() that holds.
Location ring_buffer_written(const program::FuncSchedule &s);

}  // namespace tessera::lower

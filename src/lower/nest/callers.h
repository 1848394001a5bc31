#pragma once
#include "lower/nest/stage.h"

namespace tessera::lower {

// A place in the pipeline where functions can be computed: the body of a loop of a stage, a
// stage's innermost body (loop -1), or the root, outside of all loops (no owner).
struct InsertionPoint {
    const StageNest *owner = nullptr;
    int loop = 0;
    friend bool operator==(const InsertionPoint &, const InsertionPoint &) = default;
    // Loops from this index on stand still there.
    int fixed() const;
    // Return true if it is around a call of an extern stage's function for a piece. Asked further
    // out for the whole, it may want to read more for the piece, or compute more.
    bool is_call_of_piece() const { return owner && loop == 0 && owner->is_in_pieces(); }
};

// A stage that calls something.
struct Caller {
    StageNestRef nest;
    bool is_extern() const { return nest->func.has_extern_definition(); }
};

// Records who calls what in a piece of the pipeline that has been built.
class Callers {
public:
    void add(Symbol callee, const Caller &caller) { callers[callee].push_back(caller); }
    bool contains(Symbol callee) const { return callers.contains(callee); }
    const std::vector<Caller> &of(Symbol callee) const;
    // Takes over all of another's entries; the smaller one is moved into the larger one.
    void merge(Callers &&other);

private:
    std::unordered_map<Symbol, std::vector<Caller>> callers;
};

}  // namespace tessera::lower

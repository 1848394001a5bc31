#pragma once
#include "program/function.h"

namespace tessera::program {

// An algorithm is the definitions of all functions that some outputs reach, as they were written,
// before any schedule. A value: it never changes, copies share it, and any thread may read it. The
// Funcs that it was made of may be scheduled further, defined anew, or be gone.
class Algorithm {
public:
    Algorithm() = default;
    // Functions that directives have made (wrappers, clones, the intermediate functions of rfactor)
    // are left out, and those that they have changed are as they were. CompileError if one of them
    // is an output.
    explicit Algorithm(const std::vector<FunctionRef> &outputs, const Location &at = {});

    // Producers before their consumers. Their calls name others of them, and keep none alive.
    const std::vector<FunctionRef> &functions() const { return all; }
    const std::vector<FunctionRef> &outputs() const { return of_outputs; }
    // The function of that name; null if it is none of this algorithm.
    FunctionRef find(Symbol name) const;
    // The same in every process for the same definitions, whatever is called how.
    uint64_t hash() const;

private:
    std::vector<FunctionRef> all, of_outputs;
    Ref<FunctionFamily> family;
};

// A copy of the function as the algorithm has it: a definition for each stage, with the loops that
// one has before any directive. Calls have no referents.
Ref<FunctionContents> without_schedule(const FunctionContents &f);

}  // namespace tessera::program

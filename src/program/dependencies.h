#pragma once
#include "program/program.h"

namespace tessera::program {

// Holds what code was compiled from. It keeps all of that alive, and tells whether anything changed
// since: a definition, a directive, a constraint. Asking takes a few nanoseconds for each function.
class Dependencies {
public:
    Dependencies() = default;
    // All functions that the outputs reach, and the parameters and levels that these refer to.
    explicit Dependencies(const Program &program);

    // Adds something else, which lives at least as long.
    void add(const Version &version);

    bool are_unchanged() const { return changes() == changes_then; }

private:
    void add(RefCounted &part, const Version &version);
    // Counts only grow, so that their sum is the same if all of them are.
    uint64_t changes() const;

    std::vector<Ref<RefCounted>> parts;
    std::vector<const Version *> versions;
    uint64_t changes_then = 0;
};

}  // namespace tessera::program

#pragma once
#include "function.h"
#include <functional>

namespace tessera::run {

// The runtime's hooks while this lives: failures are kept as text, and with `track_memory` it is
// counted what pipelines allocate. One at a time.
class Hooks {
public:
    // `find`: symbols of a library that may have a runtime of its own; null if there is none.
    explicit Hooks(bool track_memory,
                   const std::function<void *(const std::string &)> &find = nullptr);
    ~Hooks();
    Hooks(const Hooks &) = delete;
    Hooks &operator=(const Hooks &) = delete;

    // Calls the function; empty if it succeeded, or what went wrong, in a sentence.
    static std::string call(const Function &f, const std::vector<void *> &args);
    // Likewise of anything that the runtime does, which returns 0 or an error code.
    static std::string run(const std::function<int()> &work);

    // The most bytes that were allocated at once since it was asked last.
    static uint64_t take_memory_peak();
};

}  // namespace tessera::run

#pragma once
#include "function.h"

namespace tessera::run {

// The functions in a library that a generator wrote: of a static library or an object, which are
// linked into a shared one by the system's C compiler ("cc", or what CC says), or of a shared one.
// It takes from this program what the library lacks of the runtime. It stays loaded. Throws
// RuntimeError, with the path, if it cannot be loaded or describes no function.
class Library {
public:
    explicit Library(const std::string &path);

    const std::vector<Function> &functions() const { return found; }
    // A symbol of the library, or null.
    void *symbol(const std::string &name) const;

private:
    void *handle = nullptr;
    std::vector<Function> found;
};

}  // namespace tessera::run

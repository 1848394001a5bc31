#pragma once
#include "base/error.h"
#include "base/places_in_messages.h"
#include <typeinfo>

namespace tessera {

// `Location at = Here::current()` as a last parameter is the line of the caller.
using Here = std::source_location;

// Does something for a call at a line of the user's. Its errors begin with that line, unless they
// say already where; what the user's own code throws goes through.
template<typename F> decltype(auto) called_at(const Location &at, F &&f) {
    try {
        return f();
    } catch (const CompileError &e) {
        if (typeid(e) != typeid(CompileError) || begins_with_place(e.what())) throw;
        throw CompileError(at, e.what());
    } catch (const RuntimeError &e) {
        if (typeid(e) != typeid(RuntimeError) || begins_with_place(e.what())) throw;
        throw RuntimeError(at, e.what());
    }
}

// An index and the line of the caller, for operator[], which takes no second parameter.
struct WrittenIndex {
    WrittenIndex(int64_t value, Location at = Here::current()) : value(value), at(at) {}
    bool is_below(size_t size) const { return value >= 0 && size_t(value) < size; }

    int64_t value;
    Location at;
};

}  // namespace tessera

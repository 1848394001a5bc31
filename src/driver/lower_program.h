#pragma once
#include "base/large_stack.h"
#include "lower/lower.h"
#include <optional>

namespace tessera::driver {

// Lowers with the checks that this build and the target ask for.
ir::Module lower_program(const program::Program &program, const Target &target);

// Runs f, which may walk deep expressions, and returns its result.
template<typename F>
auto with_large_stack(F f) {
    std::optional<decltype(f())> result;
    run_on_large_stack([&] { result.emplace(f()); });
    return std::move(result).value();
}

}  // namespace tessera::driver

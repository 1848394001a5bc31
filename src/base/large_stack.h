#pragma once
#include <functional>
#include <optional>
#include <utility>

namespace tessera {

// Calls `f` on a thread with a stack of 1 GiB (touched only as far as it is used), or as large as
// there is room for, and passes on what it throws: deep expressions and long pipelines are walked
// by recursion.
void run_on_large_stack(const std::function<void()> &f);

// The same of a function with a result.
template<typename F>
auto with_large_stack(F f) {
    std::optional<decltype(f())> result;
    run_on_large_stack([&] { result.emplace(f()); });
    return std::move(result).value();
}

}  // namespace tessera

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

// Calls `f` on the thread that waits for this one in run_on_large_stack(), and passes on what it
// throws: handlers of a user's expect to be called on the thread that has called Tessera. If none
// waits, that is this one.
void call_on_waiting_thread(const std::function<void()> &f);

}  // namespace tessera

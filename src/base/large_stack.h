#pragma once
#include <functional>

namespace tessera {

// Calls `f` on a thread with a stack of 1 GiB (touched only as far as it is used), and passes on
// what it throws: deep expressions and long pipelines are walked by recursion.
void run_on_large_stack(const std::function<void()> &f);

}  // namespace tessera

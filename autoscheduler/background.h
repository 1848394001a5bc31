#pragma once
#include <functional>

namespace tessera::autoscheduler {

// Calls `f` on a thread that nobody has to wait for: a compilation cannot be interrupted, and a
// search that is stopped does not wait for its end. `f` throws nothing, and holds what it uses. The
// program waits for it when it ends.
void run_in_background(std::function<void()> f);

// Waits until nothing runs in the background.
void wait_for_background();

}  // namespace tessera::autoscheduler

#pragma once
#include "base/dialect.h"
#include "base/handlers.h"
#include <optional>

namespace tessera {

// Holds what a thread has for itself: its dialect, its handlers, and whether it is silent. Threads
// that the compiler starts take over that of the thread they work for.
//
//     std::async([context = ThreadContext()] { context.take_over(); ... })
class ThreadContext {
public:
    // Copies that of the thread that makes it.
    ThreadContext();
    // Lets the thread that calls this follow it, to its end.
    void take_over() const;

private:
    std::optional<Dialect> dialect;
    std::shared_ptr<const Handlers> handlers;
    bool is_silent;
};

}  // namespace tessera

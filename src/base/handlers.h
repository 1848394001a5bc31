#pragma once
#include "base/warning.h"

namespace tessera {

// Returns the handlers that this thread has of its own; null if it has none.
const std::shared_ptr<const Handlers> &thread_handlers();
void set_thread_handlers(std::shared_ptr<const Handlers> handlers);

// Return the handler and the observer that count for this thread; an empty one if there is none.
WarningHandler warning_handler();
ErrorObserver error_observer();

}  // namespace tessera

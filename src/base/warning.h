#pragma once
#include "base/error.h"
#include <cstdint>
#include <functional>

namespace tessera {

// Advice about what compiles, but is hardly meant so.
using WarningHandler = std::function<void(const std::string &message)>;

// Sets the handler that gets the warnings of this process from now on, in place of stderr; an empty
// handler stands for stderr again. Returns the one before. It is called while a pipeline compiles,
// on any thread and by several at once, and may compile others, but must not run that pipeline. An
// exception that it throws leaves the call that compiles.
WarningHandler set_warning_handler(WarningHandler handler);

// Is called with every CompileError about a user's program when it is made, before it is thrown; an
// empty one: nobody. Returns the one before.
using ErrorObserver = std::function<void(const std::string &message)>;
ErrorObserver set_error_observer(ErrorObserver observer);

// The message begins with the place, as that of a CompileError; place_in() finds its file.
void warn(const Location &at, const std::string &what);
// Returns how many warnings there have been in this process.
uint64_t count_of_warnings();

}  // namespace tessera

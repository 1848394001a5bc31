#pragma once
#include "base/error.h"
#include <cstdint>
#include <functional>
#include <memory>

namespace tessera {

// Advice about what compiles, but is hardly meant so.
using WarningHandler = std::function<void(const std::string &message)>;

// Is called with every CompileError about a user's program when it is made, before it is thrown.
using ErrorObserver = std::function<void(const std::string &message)>;

// Sets the handler that gets the warnings of threads that have none of their own from now on, in
// place of stderr; an empty handler stands for stderr again. Returns the one before. It is called
// while a pipeline compiles, by several threads at once, and may compile others, but must not run
// that pipeline. An exception that it throws leaves the call that compiles. It is called on the
// thread that has called Tessera, where that waits for a thread of the compiler's; what a search
// compiles on threads of its own is told there.
WarningHandler set_warning_handler(WarningHandler handler);
// Sets the observer of threads that have none of their own; an empty one: nobody. Returns the one
// before.
ErrorObserver set_error_observer(ErrorObserver observer);

// That of the process counts in place of an empty one.
struct Handlers {
    WarningHandler warning;
    ErrorObserver error;
};

// Lets the thread have handlers of its own while this lives, in place of those that it has; so have
// the threads that the compiler starts for it. What other threads do is not told to them.
class ThreadHandlers {
public:
    explicit ThreadHandlers(Handlers handlers);
    explicit ThreadHandlers(std::shared_ptr<const Handlers> handlers);
    ~ThreadHandlers();
    ThreadHandlers(const ThreadHandlers &) = delete;
    ThreadHandlers &operator=(const ThreadHandlers &) = delete;

private:
    std::shared_ptr<const Handlers> before;
};

// The message begins with the place, as that of a CompileError; place_in() finds its file.
void warn(const Location &at, const std::string &what);
// Returns how many warnings there have been in this process.
uint64_t count_of_warnings();

}  // namespace tessera

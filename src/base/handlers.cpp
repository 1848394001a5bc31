#include "base/handlers.h"
#include <mutex>
#include <utility>

namespace tessera {
namespace {

struct ProcessHandlers {
    std::mutex mutex;
    Handlers handlers;
};

// Is never destroyed: threads may be at work when the program ends.
ProcessHandlers &handlers_of_process() {
    static auto *all = new ProcessHandlers;
    return *all;
}

thread_local std::shared_ptr<const Handlers> handlers_of_thread;

template<typename H> H set_of_process(H Handlers::*member, H handler) {
    const std::lock_guard lock(handlers_of_process().mutex);
    return std::exchange(handlers_of_process().handlers.*member, std::move(handler));
}

// A copy, which may be called when another has taken its place: it may compile, or wait for a
// thread that does.
template<typename H> H handler_of_here(H Handlers::*member) {
    if (handlers_of_thread && *handlers_of_thread.*member) return *handlers_of_thread.*member;
    const std::lock_guard lock(handlers_of_process().mutex);
    return handlers_of_process().handlers.*member;
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
    return set_of_process(&Handlers::warning, std::move(handler));
}
ErrorObserver set_error_observer(ErrorObserver observer) {
    return set_of_process(&Handlers::error, std::move(observer));
}

const std::shared_ptr<const Handlers> &thread_handlers() { return handlers_of_thread; }
void set_thread_handlers(std::shared_ptr<const Handlers> handlers) {
    handlers_of_thread = std::move(handlers);
}

WarningHandler warning_handler() { return handler_of_here(&Handlers::warning); }
ErrorObserver error_observer() { return handler_of_here(&Handlers::error); }

ThreadHandlers::ThreadHandlers(Handlers handlers)
    : ThreadHandlers(std::make_shared<const Handlers>(std::move(handlers))) {}
ThreadHandlers::ThreadHandlers(std::shared_ptr<const Handlers> handlers)
    : before(std::exchange(handlers_of_thread, std::move(handlers))) {}
ThreadHandlers::~ThreadHandlers() { handlers_of_thread = std::move(before); }

}  // namespace tessera

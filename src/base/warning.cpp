#include "base/warning.h"
#include "base/dialect.h"
#include "base/places_in_messages.h"
#include "base/silence.h"
#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

namespace tessera {
namespace {

struct Warnings {
    std::mutex mutex;
    WarningHandler handler;
    std::atomic<uint64_t> count{0};
};

Warnings &warnings() {
    static Warnings all;
    return all;
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
    std::lock_guard lock(warnings().mutex);
    return std::exchange(warnings().handler, std::move(handler));
}

void warn(const Location &at, const std::string &what) {
    if (is_silent()) return;
    warnings().count++;
    // Put together as errors are, and passed to nobody who waits for those of programs.
    std::string message = RuntimeError(at, what).what();
    remembered_place(at);
    WarningHandler handler;
    {
        std::lock_guard lock(warnings().mutex);
        handler = warnings().handler;
    }
    // Outside of the lock: the handler may compile, or wait for a thread that does.
    if (handler) return handler(message);
    const char *kind = dialect() == Dialect::Halide ? "Warning" : "warning";
    std::fprintf(stderr, "%s: %s\n", kind, message.c_str());
}

uint64_t count_of_warnings() { return warnings().count; }

}  // namespace tessera

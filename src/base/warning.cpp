#include "base/warning.h"
#include <cstdio>
#include <mutex>
#include <utility>

namespace tessera {
namespace {

struct Warnings {
    std::mutex mutex;
    WarningHandler handler;
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
    std::string message = CompileError(at, what).what();
    WarningHandler handler;
    {
        std::lock_guard lock(warnings().mutex);
        handler = warnings().handler;
    }
    // Outside of the lock: the handler may compile, or wait for a thread that does.
    if (handler) return handler(message);
    std::fprintf(stderr, "warning: %s\n", message.c_str());
}

}  // namespace tessera

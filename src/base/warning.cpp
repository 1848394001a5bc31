#include "base/warning.h"
#include "base/dialect.h"
#include "base/handlers.h"
#include "base/large_stack.h"
#include "base/places_in_messages.h"
#include "base/silence.h"
#include <atomic>
#include <cstdio>

namespace tessera {

static std::atomic<uint64_t> warnings{0};

void warn(const Location &at, const std::string &what) {
    if (is_silent()) return;
    warnings++;
    // Put together as errors are, and passed to nobody who waits for those of programs.
    std::string message = RuntimeError(at, what).what();
    remembered_place(at);
    if (const WarningHandler handler = warning_handler())
        return call_on_waiting_thread([&] { handler(message); });
    const char *kind = dialect() == Dialect::Halide ? "Warning" : "warning";
    std::fprintf(stderr, "%s: %s\n", kind, message.c_str());
}

uint64_t count_of_warnings() { return warnings; }

}  // namespace tessera

#pragma once
#include "runtime/tessera_runtime.h"
#include <mutex>
#include <string>

// While it lives, what the runtime reports and prints is kept here.
class Capture {
public:
    Capture() {
        text().clear();
        old_error = tessera_set_error_handler([](void *, const char *s) { add(s); });
        old_print = tessera_set_custom_print([](void *, const char *s) { add(s); });
    }
    ~Capture() {
        tessera_set_error_handler(old_error);
        tessera_set_custom_print(old_print);
    }
    Capture(const Capture &) = delete;
    Capture &operator=(const Capture &) = delete;

    static std::string &text() {
        static std::string captured;
        return captured;
    }
    static bool has(const std::string &part) { return text().find(part) != std::string::npos; }

private:
    // Tasks may fail at the same time.
    static void add(const char *s) {
        static std::mutex mutex;
        std::lock_guard lock(mutex);
        text() += s;
    }

    tessera_error_handler_t old_error;
    tessera_print_t old_print;
};

#pragma once
#include "runtime/tessera_runtime.h"
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <unistd.h>

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

// What f writes to stderr.
template<typename F>
std::string stderr_of(F f) {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("tessera_stderr_" + std::to_string(getpid()));
    std::fflush(stderr);
    int saved = dup(2);
    FILE *file = std::fopen(path.c_str(), "wb");
    dup2(fileno(file), 2);
    f();
    std::fflush(stderr);
    dup2(saved, 2);
    close(saved);
    std::fclose(file);
    std::ifstream in(path);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(path);
    return text;
}

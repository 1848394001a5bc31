#include "runtime/tessera_runtime.h"
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

namespace {

std::mutex file_mutex;
std::FILE *file = nullptr;
std::string file_path;

int close_locked() {
    std::FILE *closing = std::exchange(file, nullptr);
    return closing && std::fclose(closing) != 0 ? errno : 0;
}

int default_append(void *, const char *path, const void *data, size_t bytes) {
    std::lock_guard lock(file_mutex);
    if (file && file_path != path) {
        if (int error = close_locked()) return error;
    }
    if (!file) {
        file = std::fopen(path, "ab");
        if (!file) return errno;
        file_path = path;
    }
    return std::fwrite(data, 1, bytes, file) == bytes ? 0 : errno;
}

std::atomic<tessera_append_to_file_t> custom_append{default_append};

}  // namespace

extern "C" {

int tessera_append_to_file(void *user_context, const char *path, const void *data, size_t bytes) {
    return custom_append.load(std::memory_order_relaxed)(user_context, path, data, bytes);
}

tessera_append_to_file_t tessera_set_custom_append_to_file(tessera_append_to_file_t f) {
    return custom_append.exchange(f ? f : default_append);
}

int tessera_close_file(void) {
    std::lock_guard lock(file_mutex);
    return close_locked();
}
}

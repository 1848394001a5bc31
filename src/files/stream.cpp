#include "files/stream.h"
#include "base/error.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace tessera::files {
namespace {

RuntimeError file_ends(const char *what) {
    return RuntimeError(str("the file ends before the ", what, " does"));
}

}  // namespace

Stream open_stream(const std::string &path) {
    Stream file(std::fopen(path.c_str(), "rb"));
    if (!file) throw RuntimeError(std::strerror(errno));
    return file;
}

uint64_t bytes_left(std::FILE *file) {
    long at = std::ftell(file);
    if (at < 0 || std::fseek(file, 0, SEEK_END) != 0) return std::numeric_limits<uint64_t>::max();
    long end = std::ftell(file);
    std::fseek(file, at, SEEK_SET);
    return uint64_t(end - at);
}

void check_file_holds(std::FILE *file, uint64_t bytes, uint64_t ratio, const char *what) {
    if (bytes_left(file) < bytes / ratio) throw file_ends(what);
}

void read_bytes(std::FILE *file, void *to, size_t bytes, const char *what) {
    if (bytes > 0 && std::fread(to, 1, bytes, file) != bytes) {
        throw std::ferror(file) ? RuntimeError(std::strerror(errno)) : file_ends(what);
    }
}

void swap_bytes(uint8_t *elements, size_t count, size_t bytes_each) {
    if (bytes_each < 2) return;
    for (size_t i = 0; i < count; i++) {
        std::reverse(elements + i * bytes_each, elements + (i + 1) * bytes_each);
    }
}

}  // namespace tessera::files

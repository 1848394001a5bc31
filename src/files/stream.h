#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace tessera::files {

struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using Stream = std::unique_ptr<std::FILE, CloseFile>;

// The functions below throw RuntimeError with the reason alone; the caller knows the path.

// Opens a file to read it; what is written is an AtomicFile.
Stream open_stream(const std::string &path);

// Returns the number of bytes that are left; a pipe, which cannot say so, has UINT64_MAX.
uint64_t bytes_left(std::FILE *file);
// Refuses a file that is certainly too short to hold `bytes` bytes, each of which takes at least
// 1 / `ratio` of a byte there: a damaged header must not make us ask for absurd memory. `what`: the
// image, the array.
void check_file_holds(std::FILE *file, uint64_t bytes, uint64_t ratio, const char *what);

void read_bytes(std::FILE *file, void *to, size_t bytes, const char *what);

// Reverses the bytes of each element.
void swap_bytes(uint8_t *elements, size_t count, size_t bytes_each);

}  // namespace tessera::files

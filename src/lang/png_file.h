#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace tessera {

// PNG files as rows of bytes: what speaks to libpng, and to nothing of the language. Functions
// throw RuntimeError with the reason alone.

// Pixel after pixel, channel after channel, of samples of 8 or 16 bits, the high byte first.
struct PngRows {
    PngRows(int width, int height, int channels, int bits)
        : width(width), height(height), channels(channels), bits(bits),
          bytes(size_t(height) * row_bytes()) {}

    size_t row_bytes() const { return size_t(width) * size_t(channels) * size_t(bits / 8); }
    uint8_t *row(int y) { return bytes.data() + size_t(y) * row_bytes(); }

    int width, height;
    int channels;  // 1 to 4: grey, grey and alpha, RGB, RGBA
    int bits;
    std::vector<uint8_t> bytes;
};

PngRows read_png_rows(std::FILE *file);
void write_png_rows(PngRows &image, std::FILE *file);

// Throws if the rest of the file is certainly too short to hold `bytes` bytes, each of which takes
// at least 1 / `ratio` of a byte there: a damaged header must not make us ask for absurd memory.
void check_file_holds(std::FILE *file, uint64_t bytes, uint64_t ratio);

}  // namespace tessera

#pragma once
#include "lang/buffer.h"
#include <cstdio>
#include <string>

namespace tessera {

// The parts of image_io that speak to libpng. They throw RuntimeError with the reason alone.
Buffer<> read_png(std::FILE *file);
// `image` is UInt(8) or UInt(16), of three dimensions, with 1 to 4 channels.
void write_png(const Buffer<> &image, std::FILE *file);

// Throws if the rest of the file is certainly too short to hold `bytes` bytes, each of which takes
// at least 1 / `ratio` of a byte there: a damaged header must not make us ask for absurd memory.
void check_file_holds(std::FILE *file, uint64_t bytes, uint64_t ratio);

// One row of the image, pixel after pixel, channel after channel, of samples of 1 or 2 bytes. PNG
// and PNM files hold such rows, the high byte of a sample first.
void pack_row(const Buffer<> &image, int y, uint8_t *row);
void unpack_row(const uint8_t *row, int y, const Buffer<> &image);

}  // namespace tessera

#pragma once
#include "lang/buffer.h"
#include "lang/png_file.h"
#include <cstdio>
#include <string>

namespace tessera {

// The parts of image_io that are for PNG files. They throw RuntimeError with the reason alone.
Buffer<> read_png(std::FILE *file);
// `image` is UInt(8) or UInt(16), of three dimensions, with 1 to 4 channels.
void write_png(const Buffer<> &image, std::FILE *file);

// One row of the image, pixel after pixel, channel after channel, of samples of 1 or 2 bytes. PNG
// and PNM files hold such rows, the high byte of a sample first.
void pack_row(const Buffer<> &image, int y, uint8_t *row);
void unpack_row(const uint8_t *row, int y, const Buffer<> &image);

}  // namespace tessera

#pragma once
#include "files/array.h"

namespace tessera::files {

// The formats, one by one; format.h is for those who read and write. They throw RuntimeError with
// the reason alone. `name`: of the array, where the format gives names to arrays.

// PNG: samples of 8 or 16 bits, 1 to 4 channels; palettes and smaller samples are expanded.
Array read_png(const std::string &path, const std::string &name);
void write_png(const Array &image, const std::string &path, const std::string &name);
// Returns the bytes of the file.
std::string to_png(const Array &image);

// PGM and PPM, as text or bytes; samples of 8 or 16 bits that fill their range.
Array read_pnm(const std::string &path, const std::string &name);
void write_pgm(const Array &image, const std::string &path, const std::string &name);
void write_ppm(const Array &image, const std::string &path, const std::string &name);

// NumPy's arrays, versions 1 to 3. Dimension 0 is NumPy's last index, whatever order the file
// stores: array[y, x] is element (x, y). NumPy has no bfloat16 of its own; it is written as the
// two opaque bytes ('<V2') that others write, too, and e4m3 and e5m2 as '|V1' and '|f1'.
Array read_npy(const std::string &path, const std::string &name);
void write_npy(const Array &array, const std::string &path, const std::string &name);

// MATLAB's files of level 5 (-v6 and -v7): real arrays of numbers and of logicals. Dimension 0 is
// MATLAB's first index. If there are several arrays, the one of that name is read. There is always
// a second dimension in MATLAB; floats of 16 bits and 8 are written as singles.
Array read_mat(const std::string &path, const std::string &name);
void write_mat(const Array &array, const std::string &path, const std::string &name);

// Throws unless the image can be a picture's samples: UInt(8) or UInt(16), two dimensions or three.
void require_picture(const Array &image, const char *ending, int min_channels, int max_channels);

// One row of the image, pixel after pixel, channel after channel, of samples of 1 or 2 bytes. PNG
// and PNM files hold such rows, the high byte of a sample first.
void pack_row(const Array &image, int y, uint8_t *row);
void unpack_row(const uint8_t *row, int y, Array &image);

}  // namespace tessera::files

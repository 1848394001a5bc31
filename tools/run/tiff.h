#pragma once
#include "files/array.h"

namespace tessera::run {

// TIFF through libtiff: the first picture of the file, of samples of any type. Palettes, samples of
// fewer than 8 bits and other colours than grey and RGB become 8 bits of those. `name` is not used.
// They throw RuntimeError with the reason alone.
files::Array read_tiff(const std::string &path, const std::string &name);
void write_tiff(const files::Array &image, const std::string &path, const std::string &name);

}  // namespace tessera::run

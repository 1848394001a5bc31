#pragma once
#include "files/array.h"
#include "files/format.h"

namespace tessera::run {

// Between what files hold and what arguments are. All throw RuntimeError with the reason alone;
// what was changed is a note of the result.

// PNG, PGM, PPM, NPY, MAT and TIFF.
std::span<const files::Format> formats();

// The array with as many dimensions as are wanted: those of extent 1 are added or left out; of a
// colour picture where two are wanted, its brightness.
files::Array with_dimensions(files::Array array, int wanted);
// A picture with more channels: grey is repeated, alpha is opaque. It stays as it is if that cannot
// be.
files::Array with_channels(files::Array picture, int wanted);
// Returns an array of the same elements in another type.
files::Array with_type(files::Array array, tessera_type_t type);
// Returns what a file of this format can hold of the array.
files::Array writable(files::Array array, const files::Format &format);

// "640x480x3"
std::string extents_text(const std::vector<int> &extents);
// Returns where the element stands: "(3, 4)".
std::string place_text(const std::vector<int> &extents, size_t element);

}  // namespace tessera::run

#pragma once
#include "files/array.h"
#include <span>
#include <string_view>

namespace tessera::files {

struct Format {
    const char *name;                       // "PNG"
    std::span<const char *const> endings;   // of paths, by which files are written: ".png"
    bool (*begins)(std::string_view head);  // whether a file begins like this; it may be short
    Array (*read)(const std::string &path, const std::string &name);
    void (*write)(const Array &array, const std::string &path, const std::string &name);
    bool holds_pictures = false;  // of integers of 8 and 16 bits
};

// PNG, PGM and PPM; all formats of this component.
std::span<const Format> picture_formats();
std::span<const Format> all_formats();

// Reads a file by the format that it begins with. `name`: which array is wanted of a format that
// gives names to several. Throws RuntimeError with the reason alone.
Array read_file(const std::string &path, std::span<const Format> formats,
                const std::string &name = "");

// The format by the ending of the path. Throws RuntimeError if there is none.
const Format &format_for(const std::string &path, std::span<const Format> formats);

}  // namespace tessera::files
